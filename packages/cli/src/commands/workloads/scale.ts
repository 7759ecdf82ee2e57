// `scale`: sets the replicas of a scale subresource.

import { isNotFound } from '@cluster-apiserver/client/errors.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { durationMs, UsageError } from '../../command-line/flags.js'
import { fileFlags, resolveObjects, selectFlags } from '../../objects/object-arguments.js'
import { waitUntil } from '../../objects/wait-until.js'
import type { Workload } from '../../objects/workload.js'
import { parseDryRun, printResults, type Result, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'
import { outputOf } from '../../output/print-flags.js'

export const command = defineCommand({
  usage: 'scale (TYPE NAME… | TYPE/NAME… | -f FILE) --replicas=N [flags]',
  examples: ['scale deployment shop --replicas=3', 'scale deployment shop --current-replicas=3 --replicas=5'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...writeFlags,
    replicas: { kind: 'number', help: 'number of replicas' },
    'current-replicas': { kind: 'number', help: 'required current number of replicas' },
    'resource-version': { kind: 'text', help: 'required resourceVersion of the object' },
    timeout: { kind: 'text', initial: '0', help: 'timeout until the replicas exist; 0: do not wait' },
    all: { kind: 'switch', help: 'all objects of the type in the namespace' },
  },
  run: async (context) => {
    const { flags, io, signal } = context
    const { replicas } = flags
    const timeoutMs = durationMs('timeout', flags.timeout ?? '0')
    if (replicas === undefined || replicas < 0)
      throw new UsageError('the --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0')
    const results: Result[] = []
    const code = await forEach(await resolveObjects(context.args, flags, context), io, async (target) => {
      const { collection, resource, name } = target
      if (!resource.subresources.some((subresource) => subresource.name === 'scale'))
        throw new CommandError(`${resource.resource} cannot be scaled: no scale subresource`)
      const scale = collection.subresource('scale')
      const live = await scale.get(name).catch((thrown: unknown) => {
        if (isNotFound(thrown)) return collection.get(name)
        throw thrown
      })
      const currentReplicas = (live['spec'] as { readonly replicas?: number } | undefined)?.replicas ?? 0
      if (flags['current-replicas'] !== undefined && currentReplicas !== flags['current-replicas'])
        throw new CommandError(`Expected replicas to be ${flags['current-replicas']}, was ${currentReplicas}`)
      if (flags['resource-version'] !== undefined && live.metadata?.resourceVersion !== flags['resource-version'])
        throw new CommandError(`Expected resource version to be ${flags['resource-version']}, was ${live.metadata?.resourceVersion}`)
      const patch = {
        ...(flags['resource-version'] === undefined ? {} : { metadata: { resourceVersion: flags['resource-version'] } }),
        spec: { replicas },
      }
      const draft = { ...live, spec: { ...(live['spec'] as object | undefined), replicas } }
      const scaled = await writeUnlessDryRun<DynamicObject>(flags, draft, (options) => scale.patch(name, patch, options))
      if (timeoutMs > 0 && parseDryRun(flags['dry-run']) === 'none')
        await waitUntil(target, (object) => isScaled(object, replicas), { deadline: Date.now() + timeoutMs, signal, io })
      const object = outputOf(flags) === '' ? scaled : withReplicas(await collection.get(name), replicas)
      results.push({ resource, name, operation: 'scaled', object })
    })
    printResults(results, flags, io)
    return code
  },
})

const withReplicas = (object: DynamicObject, replicas: number): DynamicObject => ({
  ...object,
  spec: { ...(object['spec'] as object | undefined), replicas },
})

function isScaled(object: DynamicObject | undefined, replicas: number): boolean {
  const { metadata, status } = (object ?? {}) as Workload
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0) && (status?.replicas ?? 0) === replicas
}
