// `version`: versions of client and server.

import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'
import { ownVersion } from '../../command-line/own-version.js'
import { jsonText, yamlText } from '../../output/documents.js'

export const command = defineCommand({
  usage: 'version [--client] [-o json|yaml]',
  flags: {
    client: { kind: 'switch', help: 'only the version of the client' },
    short: { kind: 'switch', help: 'accepted for compatibility; always on' },
    output: { kind: 'text', short: 'o', help: 'json or yaml' },
  },
  takesNoArguments: true,
  run: async ({ flags, session, io }) => {
    if (flags.output !== undefined && !['json', 'yaml'].includes(flags.output)) throw new UsageError("--output must be 'yaml' or 'json'")
    const version = ownVersion()
    const server = flags.client ? undefined : await session.client.version()
    const versions = { clientVersion: { version }, ...(server === undefined ? {} : { serverVersion: server }) }
    if (flags.output === 'json') io.out(jsonText(versions))
    else if (flags.output === 'yaml') io.out(yamlText(versions))
    else io.out(`Client Version: ${version}\n${server === undefined ? '' : `Server Version: ${server.gitVersion}\n`}`)
    return 0
  },
})
