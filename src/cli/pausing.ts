// Pausing a rollout, and letting it go on.

import type { DynamicObject } from '../client/objects.js'
import { type Command, defineCommand } from './command.js'
import { forEach } from './each.js'
import { Failure } from './failure.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from './results.js'
import { checkWorkload, isWholeType, type Workload } from './rollout.js'
import { fileFlags, namedOrFiled, selectFlags } from './targets.js'

export const pausing = (deed: 'pause' | 'resume'): Command =>
  defineCommand({
    usage: `rollout ${deed} deployment/NAME [flags]`,
    about: deed === 'pause' ? 'let changes of a deployment wait' : 'let a deployment go on',
    flags: { ...fileFlags, ...selectFlags, ...writeFlags },
    run: async (work) => {
      const { flags, io } = work
      const results: Result[] = []
      const code = await forEach(
        await namedOrFiled(work.args, { ...flags, all: isWholeType(work.args, flags) }, work),
        io,
        async (named) => {
          checkWorkload(named, ['Deployment'])
          const { collection, name, resource } = named
          const live = (await collection.get(name)) as Workload
          if ((live.spec?.paused === true) === (deed === 'pause'))
            throw new Failure(`${resource.resource}.${resource.group} "${name}" is ${deed === 'pause' ? 'already paused' : 'not paused'}`)
          const draft = { ...live, spec: { ...live.spec, paused: deed === 'pause' } }
          const patch = { spec: { paused: deed === 'pause' ? true : null } }
          const object = await writeUnlessDry<DynamicObject>(flags, draft, (terms) => collection.patch(name, patch, terms))
          results.push({ resource, name, what: deed === 'pause' ? 'paused' : 'resumed', object })
        },
      )
      tellResults(results, flags, io)
      return code
    },
  })
