// Pausing a rollout, and letting it go on.

import type { DynamicObject } from '../client/objects.js'
import { type Command, defineCommand } from './command.js'
import { forEach } from './each.js'
import { Failure } from './failure.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from './results.js'
import { rolloutFlags, type Workload, workloadsOf } from './rollout.js'

export const pausing = (deed: 'pause' | 'resume'): Command =>
  defineCommand({
    usage: `rollout ${deed} deployment/NAME [flags]`,
    about: deed === 'pause' ? 'let changes of a deployment wait' : 'let a deployment go on',
    flags: { ...rolloutFlags, ...writeFlags },
    run: async (work) => {
      const { flags, io } = work
      const results: Result[] = []
      const code = await forEach(await workloadsOf(work, ['Deployment']), io, async (named) => {
        const { collection, name, resource } = named
        const live = (await collection.get(name)) as Workload
        if ((live.spec?.paused === true) === (deed === 'pause'))
          throw new Failure(`${resource.resource}.${resource.group} "${name}" is ${deed === 'pause' ? 'already paused' : 'not paused'}`)
        const draft = { ...live, spec: { ...live.spec, paused: deed === 'pause' } }
        const patch = { spec: { paused: deed === 'pause' ? true : null } }
        const object = await writeUnlessDry<DynamicObject>(flags, draft, (terms) => collection.patch(name, patch, terms))
        results.push({ resource, name, what: deed === 'pause' ? 'paused' : 'resumed', object })
      })
      tellResults(results, flags, io)
      return code
    },
  })
