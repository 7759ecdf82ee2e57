// Follows rollouts until they are done, one after the other.

import { defineCommand } from '../command.js'
import { Failure } from '../failure.js'
import { durationMs } from '../flags.js'
import { progressOf, rolloutFlags, type Workload, workloadsOf } from '../rollout.js'
import { waitUntil } from '../until.js'

export const command = defineCommand({
  usage: 'rollout status (TYPE [NAME] | TYPE/NAME | TYPE -l SELECTOR | -f FILE) [flags]',
  about: 'follow a rollout until it is done',
  flags: {
    ...rolloutFlags,
    watch: { kind: 'switch', short: 'w', initial: 'true', help: 'until it is done' },
    timeout: { kind: 'text', initial: '0', help: 'how long; 0: as long as it takes' },
    revision: { kind: 'number', initial: '0', help: 'of this revision only: fails when another one is rolled out; 0: the latest' },
  },
  run: async (work) => {
    const { flags, session, io, signal } = work
    const ms = durationMs('timeout', flags.timeout ?? '0')
    const wanted = flags.revision ?? 0
    if (wanted < 0) throw new Failure(`revision must be a positive integer: ${wanted}`)
    const deadline = ms > 0 ? Date.now() + ms : undefined
    const annotation = (await session.resources.identity()).label('revision', 'deployment')
    for (const named of await workloadsOf(work)) {
      const { resource, name, collection } = named
      await collection.get(name)
      let told = ''
      await waitUntil(
        named,
        (object) => {
          if (object === undefined) throw new Failure('object has been deleted')
          if (wanted > 0 && resource.kind === 'Deployment') {
            const running = Number(object.metadata?.annotations?.[annotation] ?? 0)
            if (running !== wanted) throw new Failure(`desired revision (${wanted}) is different from the running revision (${running})`)
          }
          const { text, isDone } = progressOf(resource.kind, object as Workload)
          if (text !== told) io.out(`${text}\n`)
          told = text
          return isDone || !flags.watch
        },
        { deadline, signal, io },
      )
    }
    return 0
  },
})
