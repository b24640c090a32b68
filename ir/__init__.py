"""The intermediate representation: what a kernel means, and the passes that keep that meaning."""
