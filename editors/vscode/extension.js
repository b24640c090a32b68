// Starts `hbc lsp` for kernels. What a code lens runs is shown in the channel "hbc".
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const command = workspace.getConfiguration("hbc").get("command", "hbc");
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("hbc", "hbc", server, { documentSelector: [{ language: "hb" }] });
  await client.start();
};

exports.deactivate = () => client?.stop();
