// Shows the versions of the client and of the server.

import { defineCommand } from '../command.js'
import { UsageError } from '../flags.js'
import { jsonText, yamlText } from '../output/documents.js'
import { ownVersion } from '../own-version.js'

export const command = defineCommand({
  usage: 'version [--client] [-o json|yaml]',
  about: 'show versions',
  flags: {
    client: { kind: 'switch', help: 'without asking a server' },
    short: { kind: 'switch', help: 'it always is' },
    output: { kind: 'text', short: 'o', help: 'json or yaml' },
  },
  takesNoWords: true,
  run: async ({ flags, session, io }) => {
    if (flags.output !== undefined && !['json', 'yaml'].includes(flags.output)) throw new UsageError("--output must be 'yaml' or 'json'")
    const version = ownVersion()
    const server = flags.client ? undefined : await session.client.version()
    const found = { clientVersion: { version }, ...(server === undefined ? {} : { serverVersion: server }) }
    if (flags.output === 'json') io.out(jsonText(found))
    else if (flags.output === 'yaml') io.out(yamlText(found))
    else io.out(`Client Version: ${version}\n${server === undefined ? '' : `Server Version: ${server.gitVersion}\n`}`)
    return 0
  },
})
