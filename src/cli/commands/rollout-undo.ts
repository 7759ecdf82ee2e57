// Goes back to an earlier revision of workloads.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { goJson } from '../output/documents.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
import { revisionsOf, withoutHash } from '../revisions.js'
import { rolloutFlags, type Workload, workloadsOf } from '../rollout.js'

/** Empty maps and times that nobody set make no difference. */
const isSame = (a: unknown, b: unknown): boolean => goJson(trimmed(a)) === goJson(trimmed(b))

function trimmed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? undefined
  if (Array.isArray(value)) return value.map(trimmed)
  const kept = Object.entries(value).map(([name, member]) => [name, trimmed(member)] as const)
  const entries = kept.filter(([, member]) => member !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

export const command = defineCommand({
  usage: 'rollout undo (TYPE [NAME] | TYPE/NAME | TYPE -l SELECTOR | -f FILE) [--to-revision=N]',
  about: 'go back to an earlier revision',
  flags: { ...rolloutFlags, ...writeFlags, 'to-revision': { kind: 'number', initial: '0', help: 'which one; 0: the one before' } },
  run: async (work) => {
    const { flags, session, io } = work
    const results: Result[] = []
    const code = await forEach(await workloadsOf(work), io, async (named) => {
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
      const next = undone(live)
      if (isSame(next.spec?.template, live.spec?.template)) {
        results.push({ resource, name, what: `skipped rollback (current template already matches revision ${to.number})`, object: live })
        return
      }
      const object = await writeUnlessDry<DynamicObject>(flags, next, (terms) => collection.modify(name, undone, terms))
      results.push({ resource, name, what: 'rolled back', object })
    })
    tellResults(results, flags, io)
    return code
  },
})
