// Shows the groups and versions that the server serves.

import { sortTexts } from '../../base/text-order.js'
import { defineCommand } from '../command.js'

export const command = defineCommand({
  usage: 'api-versions',
  about: 'show groups and versions',
  flags: {},
  takesNoWords: true,
  run: async ({ session, io }) => {
    const { apiVersions } = await session.resources.refreshed()
    io.out(`${sortTexts([...apiVersions]).join('\n')}\n`)
    return 0
  },
})
