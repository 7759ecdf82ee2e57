// Shows the revisions of a workload.

import { defineCommand } from '../command.js'
import { Failure } from '../failure.js'
import { alignRows, headerRow } from '../output/columns.js'
import { yamlText } from '../output/documents.js'
import { revisionsOf } from '../revisions.js'
import { checkWorkload, type Workload } from '../rollout.js'
import { fullNameOf, oneNamed } from '../targets.js'

export const command = defineCommand({
  usage: 'rollout history (TYPE NAME | TYPE/NAME) [flags]',
  about: 'show the revisions of a workload',
  flags: { revision: { kind: 'number', initial: '0', help: 'the pods of this one' } },
  run: async ({ args, flags, session, io }) => {
    const named = await oneNamed(args, { session })
    checkWorkload(named)
    const revisions = await revisionsOf(named, (await named.collection.get(named.name)) as Workload, session)
    io.out(`${fullNameOf(named.resource, named.name)} ${(flags.revision ?? 0) > 0 ? `with revision #${flags.revision}` : ''}\n`)
    if ((flags.revision ?? 0) > 0) {
      const one = revisions.find(({ number }) => number === flags.revision)
      if (one === undefined)
        throw new Failure(`unable to find the specified revision; there are ${revisions.map(({ number }) => number).join(', ')}`)
      io.out(`Pod Template:\n${yamlText(one.template).replaceAll(/^/gm, '  ').trimEnd()}\n`)
      return 0
    }
    if (revisions.length === 0) io.out('No rollout history found.\n')
    else
      io.out(
        alignRows([headerRow(['REVISION', 'CHANGE-CAUSE'], io.style), ...revisions.map(({ number, cause }) => [String(number), cause])]),
      )
    return 0
  },
})
