// Whether the command is asked for a server, before it is loaded: src/server/main.ts decides it again by all of its flags, and a test holds both together.

'use strict'

/** Neither one of the commands with a name nor a question that is answered at once. */
const isServer = (argv) => !/^[^-]/.test(argv[0] ?? '') && !argv.some((word) => /^(?:--(?:help|version)(?:=true)?|-h)$/.test(word))

module.exports = { isServer }
