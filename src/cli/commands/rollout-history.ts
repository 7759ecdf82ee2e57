// Shows the revisions of workloads.

import { defineCommand } from '../command.js'
import { renderTabbed } from '../describe/entry.js'
import { type Template, templateEntry } from '../describe/pod.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { alignRows, headerRow } from '../output/columns.js'
import { outputOf, printFlags } from '../output/print-flags.js'
import { printerFor } from '../output/printer.js'
import { noCause, type Revision, revisionsOf } from '../revisions.js'
import { rolloutFlags, type Workload, workloadsOf } from '../rollout.js'
import { fullNameOf, nameOfObject } from '../targets.js'

export const command = defineCommand({
  usage: 'rollout history (TYPE [NAME] | TYPE/NAME | TYPE -l SELECTOR | -f FILE) [flags]',
  about: 'show the revisions of a workload',
  flags: { ...rolloutFlags, ...printFlags, revision: { kind: 'number', initial: '0', help: 'the pods of this one' } },
  run: async (work) => {
    const { flags, session, io } = work
    const wanted = flags.revision ?? 0
    if (wanted < 0) throw new UsageError(`revision must be a positive integer: ${wanted}`)
    const form = outputOf(flags)
    const causeName = (await session.resources.identity()).label('change-cause')
    const withCause = ({ template, cause }: Revision): Template => ({
      ...(template as Template),
      metadata: {
        ...template.metadata,
        annotations: { ...template.metadata?.annotations, ...(cause === noCause ? {} : { [causeName]: cause }) },
      },
    })
    const printer = form === '' ? undefined : printerFor({ flags, nameOf: nameOfObject })
    let hasShown = false
    for (const named of await workloadsOf(work)) {
      const { resource, name, collection } = named
      const revisions = await revisionsOf(named, (await collection.get(name)) as Workload, session)
      const chosen = wanted > 0 ? revisions.filter(({ number }) => number === wanted) : revisions
      if (wanted > 0 && chosen.length === 0)
        throw new Failure(`unable to find the specified revision; there are ${revisions.map(({ number }) => number).join(', ') || 'none'}`)
      if (printer !== undefined) {
        for (const { object } of chosen) {
          io.data(`${hasShown && form === 'yaml' ? '---\n' : ''}${printer.print([object], false)}`)
          hasShown = true
        }
        continue
      }
      io.out(`${fullNameOf(resource, name)} ${wanted > 0 ? `with revision #${wanted}` : ''}\n`)
      const [one] = chosen
      if (one === undefined) io.out('No rollout history found.\n')
      else if (wanted > 0) io.out(`${renderTabbed([templateEntry(withCause(one))])}\n`)
      else
        io.out(
          `${alignRows([headerRow(['REVISION', 'CHANGE-CAUSE'], io.style), ...revisions.map(({ number, cause }) => [String(number), cause])], [], 2)}\n`,
        )
    }
    return 0
  },
})
