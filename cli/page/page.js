// Where both panes are narrow, long lines are wrapped until somebody says otherwise.
document.getElementById("wrap").checked = innerWidth <= 800;
const alike = line => {
  const found = new Set();
  for (const kind of ['s', 'c'])
    if (line.dataset[kind]) document.querySelectorAll(`[data-${kind}="${line.dataset[kind]}"]`).forEach(x => found.add(x));
  return [...found];
};
const tabs = [...document.querySelectorAll('[data-tab]')];
const show = name => tabs.forEach(tab => {
  tab.setAttribute('aria-selected', tab.dataset.tab === name);
  document.getElementById(`tab-${tab.dataset.tab}`).hidden = tab.dataset.tab !== name;
});
tabs.forEach((tab, n) => {
  tab.addEventListener('click', () => show(tab.dataset.tab));
  tab.addEventListener('keydown', e => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (step) tabs[(n + step + tabs.length) % tabs.length].focus();
  });
});
if (tabs.some(tab => `#${tab.dataset.tab}` === location.hash)) show(location.hash.slice(1));
for (const line of document.querySelectorAll('[data-s], [data-c]')) {
  const same = alike(line);
  line.addEventListener('mouseenter', () => same.forEach(x => x.classList.add('marked')));
  line.addEventListener('mouseleave', () => same.forEach(x => x.classList.remove('marked')));
  line.addEventListener('click', () => {
    const here = line.closest('.tab, .source');
    const there = same.filter(x => x.closest('.tab, .source') !== here);
    const open = there.find(x => !x.closest('[hidden]')) ?? there.find(x => x.closest('#tab-code')) ?? there[0];
    if (!open) return;
    const tab = open.closest('.tab');
    if (tab) show(tab.id.replace('tab-', ''));
    const folded = open.closest('details');
    if (folded) folded.open = true;
    open.scrollIntoView({block: 'center'});
  });
}
document.getElementById('pass').addEventListener('change', e =>
  document.querySelectorAll('[data-pass]').forEach(x => { x.hidden = x.dataset.pass !== e.target.value; }));
