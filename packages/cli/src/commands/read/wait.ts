// `wait`: waits for a condition, a JSONPath value or the deletion of objects.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { durationMs, UsageError } from '../../command-line/flags.js'
import { localFlags } from '../../objects/local-change.js'
import { fileFlags, resolveObjects, selectFlags } from '../../objects/object-arguments.js'
import { waitUntil } from '../../objects/wait-until.js'
import { printResults } from '../../objects/write-results.js'
import { evaluatePath, parseRelaxed, textOf } from '../../output/json-path.js'
import { printFlags } from '../../output/print-flags.js'

export const command = defineCommand({
  usage:
    'wait (TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR | -f FILE) --for=(condition=NAME[=VALUE] | delete | jsonpath={PATH}[=VALUE]) [flags]',
  examples: [
    'wait deployment/shop --for=condition=Available --timeout=60s',
    'wait pods --all --for=delete',
    "wait pod/web --for=jsonpath='{.status.phase}'=Running",
  ],
  flags: {
    ...fileFlags,
    ...selectFlags,
    for: { kind: 'text', help: 'condition=NAME[=VALUE], delete or jsonpath={PATH}[=VALUE]' },
    timeout: { kind: 'text', initial: '30s', help: 'timeout; 0: check once; negative: one week' },
    all: { kind: 'switch', help: 'all objects of the type in the namespace' },
    ...printFlags,
    ...localFlags,
  },
  run: async (context) => {
    const { flags, io, signal } = context
    const isMet = conditionOf(flags.for)
    const ms = durationMs('timeout', flags.timeout ?? '30s')
    const deadline = Date.now() + (ms < 0 ? 7 * 24 * 3_600_000 : ms)
    const targets = await resolveObjects(context.args, flags, context)
    const isDeletion = flags.for?.toLowerCase() === 'delete'
    if (targets.length === 0 && isDeletion) return 0
    if (targets.length === 0) throw new CommandError('no matching resources found')
    return forEach(targets, io, async (target) => {
      const initial = isDeletion ? await target.collection.find(target.name) : await target.collection.get(target.name)
      let last: DynamicObject | undefined
      const check = (object: DynamicObject | undefined): boolean => {
        last = object
        return isMet(object)
      }
      await waitUntil(target, check, { deadline, signal, io })
      if (last === undefined && initial === undefined) return
      printResults([{ resource: target.resource, name: target.name, operation: 'condition met', object: last ?? initial ?? {} }], flags, io)
    })
  },
})

function conditionOf(text: string | undefined): (object: DynamicObject | undefined) => boolean {
  if (text === undefined) throw new UsageError('--for is required: condition=NAME, delete, or jsonpath={PATH}=VALUE')
  if (text.toLowerCase() === 'delete') return (object) => object === undefined
  if (text.startsWith('condition=')) {
    const [name = '', value = 'true'] = text.slice('condition='.length).split('=')
    return (object) => {
      const { conditions, observedGeneration } = (object?.['status'] ?? {}) as Status
      const found = (conditions ?? []).find(({ type }) => type.toLowerCase() === name.toLowerCase())
      const generation = found?.observedGeneration ?? observedGeneration ?? Number.POSITIVE_INFINITY
      return found !== undefined && generation >= (object?.metadata?.generation ?? 0) && found.status.toLowerCase() === value.toLowerCase()
    }
  }
  if (text.startsWith('jsonpath=')) {
    const pathAndValue = text.slice('jsonpath='.length).replace(/^'(.*)'$/, '$1')
    const pathEnd = pathAndValue.startsWith('{') ? pathAndValue.indexOf('}') + 1 : pathAndValue.indexOf('=')
    const [path, value] =
      pathEnd <= 0 || pathAndValue[pathEnd] !== '='
        ? [pathAndValue, undefined]
        : [pathAndValue.slice(0, pathEnd), pathAndValue.slice(pathEnd + 1)]
    if (value === '') throw new UsageError('jsonpath wait condition cannot be empty')
    const steps = parseRelaxed(path)
    return (object) => {
      const found = object === undefined ? [] : evaluatePath(steps, object)
      if (found.some((match) => typeof match === 'object' && match !== null) && value !== undefined)
        throw new CommandError('jsonpath leads to a nested object or list which is not supported')
      return value === undefined ? found.length > 0 : found.length === 1 && textOf(found[0]) === value
    }
  }
  throw new UsageError(`unrecognized condition: "${text}"`)
}

interface Status {
  readonly observedGeneration?: number
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly observedGeneration?: number }[] | null
}
