// Parsers of the configurations of admission plugins, except PodSecurity.

import { dirname, resolve } from 'node:path'
import { labelValue, qualifiedName } from '@cluster-apiserver/api/api/validation/name-formats.js'
import { validateTolerations } from '@cluster-apiserver/api/resources/core/pod-spec/scheduling.js'
import type { Toleration } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ConfigContext } from './config-fields.js'
import {
  booleanOf,
  checkKind,
  childPath,
  type Fields,
  integerOf,
  listOf,
  mappingOf,
  onlyFields,
  requiredText,
  textOf,
  textsOf,
} from './config-fields.js'

const limitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const

export interface EventRateLimit {
  readonly type: (typeof limitTypes)[number]
  readonly qps: number
  readonly burst: number
  /** Number of namespaces, users or sources whose rate is tracked. */
  readonly cacheSize: number
}

export type EventRateLimits = readonly EventRateLimit[]

const eventKinds = [{ kind: 'Configuration', group: { stem: 'eventratelimit.admission' }, versions: ['v1alpha1'] }]
const defaultCacheSize = 4096

export function parseEventRateLimits(value: unknown, { identity, where }: ConfigContext): EventRateLimits {
  const fields = mappingOf(value, where)
  checkKind(fields, eventKinds, { identity, where, known: ['limits'] })
  const limits = listOf(fields, 'limits', where)
  const fieldPath = childPath(where, 'limits')
  if (limits.length === 0) throw new Error(`${fieldPath}: must not be empty`)
  const seenTypes = new Set<string>()
  return limits.map((each, i) => {
    const limit = limitOf(each, `${fieldPath}[${i}]`)
    if (seenTypes.has(limit.type)) throw new Error(`${fieldPath}[${i}].type: ${limit.type} must not have two limits`)
    seenTypes.add(limit.type)
    return limit
  })
}

function limitOf(value: unknown, where: string): EventRateLimit {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['type', 'qps', 'burst', 'cacheSize'], where)
  const type = limitTypes.find((known) => known === textOf(fields, 'type', where))
  if (type === undefined) throw new Error(`${where}.type: must be one of ${limitTypes.join(', ')}`)
  const cacheSize = integerOf(fields, 'cacheSize', where) ?? 0
  if (cacheSize < 0) throw new Error(`${where}.cacheSize: must not be negative`)
  return { type, qps: positive('qps'), burst: positive('burst'), cacheSize: cacheSize === 0 ? defaultCacheSize : cacheSize }

  function positive(name: string): number {
    const number = integerOf(fields, name, where) ?? 0
    if (number <= 0) throw new Error(`${where}.${name}: must be positive`)
    return number
  }
}

export interface ImagePolicySettings {
  readonly kubeConfigFile: string
  /** Cache time of allowed images; 0: not cached. */
  readonly allowTtlMs: number
  readonly denyTtlMs: number
  readonly retryBackoffMs: number
  readonly defaultAllow: boolean
}

const msPerSecond = 1000
const durationFields = {
  allowTTL: { fallback: 300, max: 1800, unit: msPerSecond },
  denyTTL: { fallback: 30, max: 1800, unit: msPerSecond },
  retryBackoff: { fallback: 500, max: 300_000, unit: 1 },
} as const

export function parseImagePolicy(value: unknown, { where, file }: ConfigContext): ImagePolicySettings {
  const outer = mappingOf(value, where)
  onlyFields(outer, ['imagePolicy'], where)
  const fieldPath = childPath(where, 'imagePolicy')
  const fields = mappingOf(outer['imagePolicy'], fieldPath)
  onlyFields(fields, ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'], fieldPath)
  const timeOf = (name: keyof typeof durationFields): number => {
    const { fallback, max, unit } = durationFields[name]
    const number = integerOf(fields, name, fieldPath) ?? 0
    // As in kube-apiserver: 0 means the default, -1 disables.
    if (number === 0) return fallback * unit
    if (number === -1) return 0
    if (number < 1 || number > max) throw new Error(`${fieldPath}.${name}: must be between 1 and ${max}, 0 for ${fallback}, or -1 for none`)
    return number * unit
  }
  return {
    kubeConfigFile: resolve(dirname(file), requiredText(fields, 'kubeConfigFile', fieldPath)),
    allowTtlMs: timeOf('allowTTL'),
    denyTtlMs: timeOf('denyTTL'),
    retryBackoffMs: timeOf('retryBackoff'),
    defaultAllow: booleanOf(fields, 'defaultAllow', fieldPath),
  }
}

export type Labels = { readonly [label: string]: string }

export interface NodeSelectors {
  readonly clusterDefault: Labels
  /** Labels that node selectors of pods may have, by namespace; a namespace without an entry allows all labels. */
  readonly allowed: ReadonlyMap<string, Labels>
}

export const noNodeSelectors: NodeSelectors = { clusterDefault: {}, allowed: new Map() }

const clusterDefaultField = 'clusterDefaultNodeSelector'

export function parseNodeSelectors(value: unknown, { where }: ConfigContext): NodeSelectors {
  const outer = mappingOf(value, where)
  onlyFields(outer, ['podNodeSelectorPluginConfig'], where)
  const fieldPath = childPath(where, 'podNodeSelectorPluginConfig')
  const fields = mappingOf(outer['podNodeSelectorPluginConfig'] ?? {}, fieldPath)
  const labelsOf = (name: string): Labels => {
    try {
      return parseLabelPairs(textOf(fields, name, fieldPath) ?? '')
    } catch (thrown) {
      throw new Error(`${fieldPath}.${name}: ${(thrown as Error).message}`)
    }
  }
  const names = Object.keys(fields).filter((name) => name !== clusterDefaultField)
  return { clusterDefault: labelsOf(clusterDefaultField), allowed: new Map(names.map((name) => [name, labelsOf(name)])) }
}

export function parseLabelPairs(text: string): { readonly [label: string]: string } {
  const pairs: Record<string, string> = {}
  if (text.trim() === '') return pairs
  for (const part of text.split(',')) {
    const cut = part.indexOf('=')
    if (cut < 0) throw new Error(`invalid selector: ${part}`)
    const [key, value] = [part.slice(0, cut).trim(), part.slice(cut + 1).trim()]
    const problem = qualifiedName(key)[0] ?? labelValue(value)[0]
    if (problem !== undefined) throw new Error(`invalid selector: ${part.trim()}: ${problem}`)
    pairs[key] = value
  }
  return pairs
}

interface ScopeRequirement {
  readonly scopeName: string
  readonly operator: string
  readonly values: readonly string[]
}

export interface LimitedResource {
  readonly apiGroup: string
  readonly resource: string
  readonly matchContains: readonly string[]
  readonly matchScopes: readonly ScopeRequirement[]
}

const quotaKinds = [
  { kind: 'ResourceQuotaConfiguration', group: { stem: 'apiserver.config' }, versions: ['v1'] },
  { kind: 'Configuration', group: { stem: 'resourcequota.admission' }, versions: ['v1beta1', 'v1alpha1'] },
]
const quotaScopes = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity']
const scopeOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

export function parseLimitedResources(value: unknown, { identity, where }: ConfigContext): readonly LimitedResource[] {
  const fields = mappingOf(value, where)
  checkKind(fields, quotaKinds, { identity, where, known: ['limitedResources'] })
  const fieldPath = childPath(where, 'limitedResources')
  return listOf(fields, 'limitedResources', where).map((each, i) => limitedResourceOf(each, `${fieldPath}[${i}]`))
}

function limitedResourceOf(value: unknown, where: string): LimitedResource {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['apiGroup', 'resource', 'matchContains', 'matchScopes'], where)
  return {
    apiGroup: textOf(fields, 'apiGroup', where) ?? '',
    resource: requiredText(fields, 'resource', where),
    matchContains: textsOf(fields, 'matchContains', where),
    matchScopes: listOf(fields, 'matchScopes', where).map((each, i) => requirementOf(each, `${where}.matchScopes[${i}]`)),
  }
}

function requirementOf(value: unknown, where: string): ScopeRequirement {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['scopeName', 'operator', 'values'], where)
  const scopeName = requiredText(fields, 'scopeName', where)
  const operator = requiredText(fields, 'operator', where)
  const values = textsOf(fields, 'values', where)
  if (!quotaScopes.includes(scopeName)) throw new Error(`${where}.scopeName: must be one of ${quotaScopes.join(', ')}`)
  if (!scopeOperators.includes(operator)) throw new Error(`${where}.operator: must be one of ${scopeOperators.join(', ')}`)
  const needsValues = operator === 'In' || operator === 'NotIn'
  if (needsValues !== values.length > 0)
    throw new Error(`${where}.values: must ${needsValues ? 'not ' : ''}be empty when the operator is ${operator}`)
  return { scopeName, operator, values }
}

export interface TolerationLists {
  readonly defaults: readonly Toleration[]
  /** Empty: all tolerations. */
  readonly allowed: readonly Toleration[]
}

export const noTolerationLists: TolerationLists = { defaults: [], allowed: [] }

const tolerationKinds = [{ kind: 'Configuration', group: { stem: 'podtolerationrestriction.admission' }, versions: ['v1alpha1'] }]

export function parseTolerationLists(value: unknown, { identity, where }: ConfigContext): TolerationLists {
  const fields = mappingOf(value, where)
  checkKind(fields, tolerationKinds, { identity, where, known: ['default', 'whitelist'] })
  return { defaults: tolerationsOf(fields, 'default', where), allowed: tolerationsOf(fields, 'whitelist', where) }
}

function tolerationsOf(fields: Fields, name: string, where: string): readonly Toleration[] {
  const fieldPath = childPath(where, name)
  const tolerations = listOf(fields, name, where).map((each, i) => tolerationOf(each, `${fieldPath}[${i}]`))
  const [first] = validateTolerations(tolerations, fieldPath)
  if (first !== undefined) throw new Error(`${first.field}: ${first.message}`)
  return tolerations
}

function tolerationOf(value: unknown, where: string): Toleration {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['key', 'operator', 'value', 'effect', 'tolerationSeconds'], where)
  const textFields = (['key', 'operator', 'value', 'effect'] as const).flatMap((name) => {
    const text = textOf(fields, name, where)
    return text === undefined ? [] : [[name, text] as const]
  })
  const tolerationSeconds = integerOf(fields, 'tolerationSeconds', where)
  return { ...Object.fromEntries(textFields), ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) }
}

export interface WebhookSettings {
  readonly kubeConfigFile?: string
}

const webhookKinds = [
  { kind: 'WebhookAdmissionConfiguration', group: { stem: 'apiserver.config' }, versions: ['v1'] },
  { kind: 'WebhookAdmission', group: { stem: 'apiserver.config' }, versions: ['v1alpha1'] },
]

export function parseWebhookSettings(value: unknown, { identity, where, file }: ConfigContext): WebhookSettings {
  const fields = mappingOf(value, where)
  checkKind(fields, webhookKinds, { identity, where, known: ['kubeConfigFile'] })
  const path = textOf(fields, 'kubeConfigFile', where) ?? ''
  return path === '' ? {} : { kubeConfigFile: resolve(dirname(file), path) }
}
