// Says how many there shall be of something that can be scaled.

import { isNotFound } from '../../client/errors.js'
import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { durationMs, UsageError } from '../flags.js'
import { outputOf } from '../output/print-flags.js'
import { dryRunOf, type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
import type { Workload } from '../rollout.js'
import { fileFlags, namedOrFiled, selectFlags } from '../targets.js'
import { waitUntil } from '../until.js'

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
    timeout: { kind: 'text', initial: '0', help: 'wait so long until there are so many; 0: do not wait' },
    all: { kind: 'switch', help: 'all of the type in the namespace' },
  },
  run: async (work) => {
    const { flags, io, signal } = work
    const { replicas } = flags
    const timeoutMs = durationMs('timeout', flags.timeout ?? '0')
    if (replicas === undefined || replicas < 0)
      throw new UsageError('the --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0')
    const results: Result[] = []
    const code = await forEach(await namedOrFiled(work.args, flags, work), io, async (named) => {
      const { collection, resource, name } = named
      if (!resource.subresources.some((one) => one.name === 'scale'))
        throw new Failure(`${resource.resource} cannot be scaled: they have no scale`)
      const scale = collection.subresource('scale')
      const live = await scale.get(name).catch((thrown: unknown) => {
        // The object is missing, and not a part of it.
        if (isNotFound(thrown)) return collection.get(name)
        throw thrown
      })
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
      const scaled = await writeUnlessDry<DynamicObject>(flags, draft, (terms) => scale.patch(name, patch, terms))
      if (timeoutMs > 0 && dryRunOf(flags['dry-run']) === 'none')
        await waitUntil(named, (one) => isScaled(one, replicas), { deadline: Date.now() + timeoutMs, signal, io })
      // What is shown is the object and not its scale.
      const object = outputOf(flags) === '' ? scaled : withReplicas(await collection.get(name), replicas)
      results.push({ resource, name, what: 'scaled', object })
    })
    tellResults(results, flags, io)
    return code
  },
})

/** As it is, or on a trial would be. */
const withReplicas = (object: DynamicObject, replicas: number): DynamicObject => ({
  ...object,
  spec: { ...(object['spec'] as object | undefined), replicas },
})

/** Once whoever makes them has seen the wish, and there are so many. */
function isScaled(object: DynamicObject | undefined, replicas: number): boolean {
  const { metadata, status } = (object ?? {}) as Workload
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0) && (status?.replicas ?? 0) === replicas
}
