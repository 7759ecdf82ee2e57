// Goes back to an earlier revision of a workload.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { Failure } from '../failure.js'
import { tellResults, writeFlags, writeUnlessDry } from '../results.js'
import { revisionsOf } from '../revisions.js'
import { checkWorkload, type PodTemplate, type Workload } from '../rollout.js'
import { oneNamed } from '../targets.js'

export const command = defineCommand({
  usage: 'rollout undo (TYPE NAME | TYPE/NAME) [--to-revision=N]',
  about: 'go back to an earlier revision',
  flags: { ...writeFlags, 'to-revision': { kind: 'number', initial: '0', help: 'which one; 0: the one before' } },
  run: async ({ args, flags, session, io }) => {
    const named = await oneNamed(args, { session })
    checkWorkload(named)
    const { collection, name, resource } = named
    const live = (await collection.get(name)) as Workload
    if (live.spec?.paused === true)
      throw new Failure(`you cannot roll back a paused deployment; resume it first with "clusterctl rollout resume deployment/${name}"`)
    const revisions = await revisionsOf(named, live, session)
    const wanted = flags['to-revision'] ?? 0
    const to = wanted > 0 ? revisions.find(({ number }) => number === wanted) : revisions.at(-2)
    if (to === undefined)
      throw new Failure(
        wanted > 0
          ? `unable to find specified revision ${wanted} in history`
          : `no rollout history found for ${resource.kind.toLowerCase()} "${name}"`,
      )
    const undone = (present: Workload): Workload => ({ ...present, spec: { ...present.spec, template: withoutHash(to.template) } })
    const object = await writeUnlessDry<DynamicObject>(flags, undone(live), (terms) => collection.modify(name, undone, terms))
    tellResults([{ resource, name, what: 'rolled back', object }], flags, io)
    return 0
  },
})

/** A label that a controller gives the pods of each revision. */
function withoutHash(template: PodTemplate): PodTemplate {
  const { 'pod-template-hash': _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}
