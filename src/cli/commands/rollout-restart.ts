// Has all pods of a workload made anew: an annotation of their template says when.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
import { rolloutFlags, type Workload, workloadsOf } from '../rollout.js'

export const command = defineCommand({
  usage: 'rollout restart (TYPE [NAME] | TYPE/NAME | -l SELECTOR) [flags]',
  about: 'have all pods of a workload made anew',
  flags: { ...rolloutFlags, ...writeFlags },
  run: async (work) => {
    const { flags, io, session } = work
    const results: Result[] = []
    const annotation = (await session.resources.identity()).label('restartedAt', 'kubectl')
    const code = await forEach(await workloadsOf(work), io, async (named) => {
      const { collection, name, resource } = named
      const live = (await collection.get(name)) as Workload
      if (live.spec?.paused === true)
        throw new Failure(`${resource.resource} "${name}" can't be restarted while it is paused (run rollout resume first)`)
      const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
      const patch = { spec: { template: { metadata: { annotations: { [annotation]: now } } } } }
      const { spec, spec: { template } = {} } = live
      const annotations = { ...template?.metadata?.annotations, [annotation]: now }
      const draft = { ...live, spec: { ...spec, template: { ...template, metadata: { ...template?.metadata, annotations } } } }
      const object = await writeUnlessDry<DynamicObject>(flags, draft, (terms) => collection.patch(name, patch, terms))
      results.push({ resource, name, what: 'restarted', object })
    })
    tellResults(results, flags, io)
    return code
  },
})
