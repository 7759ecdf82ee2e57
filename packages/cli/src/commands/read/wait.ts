// Waits until objects have a condition or a value, or are gone.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { durationMs, UsageError } from '../flags.js'
import { localFlags } from '../local.js'
import { follow, parseRelaxed, textOf } from '../output/json-path.js'
import { printFlags } from '../output/print-flags.js'
import { tellResults } from '../results.js'
import { fileFlags, namedOrFiled, selectFlags } from '../targets.js'
import { waitUntil } from '../until.js'

export const command = defineCommand({
  usage:
    'wait (TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR | -f FILE) --for=(condition=NAME[=VALUE] | delete | jsonpath={PATH}[=VALUE]) [flags]',
  about: 'wait until something is so',
  examples: [
    'wait deployment/shop --for=condition=Available --timeout=60s',
    'wait pods --all --for=delete',
    "wait pod/web --for=jsonpath='{.status.phase}'=Running",
  ],
  flags: {
    ...fileFlags,
    ...selectFlags,
    for: { kind: 'text', help: 'what is waited for' },
    timeout: { kind: 'text', initial: '30s', help: 'how long; 0: look once; less: a week' },
    all: { kind: 'switch', help: 'all of the type in the namespace' },
    ...printFlags,
    ...localFlags,
  },
  run: async (work) => {
    const { flags, io, signal } = work
    const isSo = conditionOf(flags.for)
    const ms = durationMs('timeout', flags.timeout ?? '30s')
    const deadline = Date.now() + (ms < 0 ? 7 * 24 * 3_600_000 : ms)
    const named = await namedOrFiled(work.args, flags, work)
    const isDeletion = flags.for?.toLowerCase() === 'delete'
    // What is not there is gone.
    if (named.length === 0 && isDeletion) return 0
    if (named.length === 0) throw new Failure('no matching resources found')
    return forEach(named, io, async (one) => {
      // What is not there cannot become so; what shall be gone may be.
      const before = isDeletion ? await one.collection.find(one.name) : await one.collection.get(one.name)
      let last: DynamicObject | undefined
      const look = (object: DynamicObject | undefined): boolean => {
        last = object
        return isSo(object)
      }
      await waitUntil(one, look, { deadline, signal, io })
      if (last === undefined && before === undefined) return
      tellResults([{ resource: one.resource, name: one.name, what: 'condition met', object: last ?? before ?? {} }], flags, io)
    })
  },
})

function conditionOf(text: string | undefined): (object: DynamicObject | undefined) => boolean {
  if (text === undefined) throw new UsageError('--for says what is waited for: condition=NAME, delete, or jsonpath={PATH}=VALUE')
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
    const rest = text.slice('jsonpath='.length).replace(/^'(.*)'$/, '$1')
    const close = rest.startsWith('{') ? rest.indexOf('}') + 1 : rest.indexOf('=')
    const [path, value] = close <= 0 || rest[close] !== '=' ? [rest, undefined] : [rest.slice(0, close), rest.slice(close + 1)]
    if (value === '') throw new UsageError('jsonpath wait condition cannot be empty')
    const steps = parseRelaxed(path)
    return (object) => {
      const found = object === undefined ? [] : follow(steps, object)
      if (found.some((one) => typeof one === 'object' && one !== null) && value !== undefined)
        throw new Failure('jsonpath leads to a nested object or list which is not supported')
      return value === undefined ? found.length > 0 : found.length === 1 && textOf(found[0]) === value
    }
  }
  throw new UsageError(`unrecognized condition: "${text}"`)
}

interface Status {
  readonly observedGeneration?: number
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly observedGeneration?: number }[] | null
}
