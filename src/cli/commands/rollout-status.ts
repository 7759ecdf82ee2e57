// Follows a rollout until it is done.

import { defineCommand } from '../command.js'
import { durationMs } from '../flags.js'
import { checkWorkload, progressOf, type Workload } from '../rollout.js'
import { oneNamed } from '../targets.js'
import { waitUntil } from '../until.js'

export const command = defineCommand({
  usage: 'rollout status (TYPE NAME | TYPE/NAME) [flags]',
  about: 'follow a rollout until it is done',
  flags: {
    watch: { kind: 'switch', short: 'w', initial: 'true', help: 'until it is done' },
    timeout: { kind: 'text', initial: '0', help: 'how long; 0: as long as it takes' },
  },
  run: async ({ args, flags, session, io, signal }) => {
    const named = await oneNamed(args, { session })
    checkWorkload(named)
    await named.collection.get(named.name)
    const ms = durationMs('timeout', flags.timeout ?? '0')
    let told = ''
    await waitUntil(
      named,
      (object) => {
        if (object === undefined) return false
        const { text, isDone } = progressOf(named.resource.kind, object as Workload)
        if (text !== told) io.out(`${text}\n`)
        told = text
        return isDone || !flags.watch
      },
      { deadline: ms > 0 ? Date.now() + ms : undefined, signal, io },
    )
    return 0
  },
})
