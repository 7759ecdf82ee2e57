// Says how many there shall be of something that can be scaled.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
import { fileFlags, namedOrFiled, selectFlags } from '../targets.js'

export const command = defineCommand({
  usage: 'scale (TYPE NAME… | TYPE/NAME… | -f FILE) --replicas=N [flags]',
  about: 'say how many there shall be',
  examples: ['scale deployment shop --replicas=3', 'scale deployment shop --current-replicas=3 --replicas=5'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...writeFlags,
    replicas: { kind: 'number', help: 'how many' },
    'current-replicas': { kind: 'number', help: 'only where there are so many now' },
    'resource-version': { kind: 'text', help: 'only where the object has this version' },
    all: { kind: 'switch', help: 'all of the type in the namespace' },
  },
  run: async (work) => {
    const { flags, io } = work
    const { replicas } = flags
    if (replicas === undefined || replicas < 0)
      throw new UsageError('the --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0')
    const results: Result[] = []
    const code = await forEach(await namedOrFiled(work.args, flags, work), io, async ({ collection, resource, name }) => {
      if (!resource.subresources.some((one) => one.name === 'scale'))
        throw new Failure(`${resource.resource} cannot be scaled: they have no scale`)
      const scale = collection.subresource('scale')
      const live = await scale.get(name)
      const present = (live['spec'] as { readonly replicas?: number } | undefined)?.replicas ?? 0
      if (flags['current-replicas'] !== undefined && present !== flags['current-replicas'])
        throw new Failure(`Expected replicas to be ${flags['current-replicas']}, was ${present}`)
      if (flags['resource-version'] !== undefined && live.metadata?.resourceVersion !== flags['resource-version'])
        throw new Failure(`Expected resource version to be ${flags['resource-version']}, was ${live.metadata?.resourceVersion}`)
      const patch = {
        ...(flags['resource-version'] === undefined ? {} : { metadata: { resourceVersion: flags['resource-version'] } }),
        spec: { replicas },
      }
      const draft = { ...live, spec: { ...(live['spec'] as object | undefined), replicas } }
      const object = await writeUnlessDry<DynamicObject>(flags, draft, (terms) => scale.patch(name, patch, terms))
      results.push({ resource, name, what: 'scaled', object })
    })
    tellResults(results, flags, io)
    return code
  },
})
