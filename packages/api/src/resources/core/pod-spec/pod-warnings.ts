// Warnings for pods and pod templates: deprecated labels, annotations and volumes, duplicates, fractional bytes.

import type { Identity } from '../../../api/identity.js'
import type { ApiObject, ObjectMeta } from '../../../api/object.js'
import { parseQuantity } from '../../../schema/quantity.js'
import { type DeprecatedLabels, deprecatedNodeLabels, termWarnings, warningFor } from '../node/node-selector.js'
import type { PersistentVolumeClaimSpec, PodSpec, PodTemplateSpec, Volume } from '../v1.schema.js'
import { isWhole } from './resource-requirements.js'
import { containerSeccompPrefix, podSeccompKey } from './security-context.js'
import { type AnyContainer, visitContainers } from './visit-containers.js'

interface PodOrTemplate {
  readonly metadata?: ObjectMeta
  readonly spec?: PodSpec
}

export function podWarnings({ metadata = {}, spec = {} }: PodOrTemplate, path: string, identity: Identity): readonly string[] {
  const at = path === '' ? '' : `${path}.`
  const labels = deprecatedNodeLabels(identity)
  const warnings = [
    ...selectorWarnings(spec, `${at}spec`, labels),
    ...annotationWarnings(metadata, `${at}metadata.annotations`, identity),
    ...(spec.volumes ?? []).flatMap((volume, i) => volumeWarnings(volume, `${at}spec.volumes[${i}]`)),
    ...duplicateWarnings({ items: spec.hostAliases, keyOf: ({ ip = '' }) => ip, name: 'ip' }, `${at}spec.hostAliases`),
    ...duplicateWarnings({ items: spec.imagePullSecrets, keyOf: ({ name = '' }) => name, name: 'name' }, `${at}spec.imagePullSecrets`),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name = '' }, i) =>
      name === '' ? [`${at}spec.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
    ),
    ...memoryAndStorageWarnings(spec.overhead, `${at}spec.overhead`),
    ...seccompWarnings({ metadata, spec }, at, identity),
  ]
  visitContainers(spec, `${at}spec`, (container, field) => warnings.push(...containerWarnings(container, field)))
  return warnings
}

interface TemplateChange {
  readonly next: ApiObject
  readonly old: ApiObject | undefined
  readonly template: PodTemplateSpec | undefined
  readonly path: string
  readonly identity: Identity
}

export function templateWarnings({ next, old, template, path, identity }: TemplateChange): readonly string[] {
  if (old !== undefined && old.metadata?.generation === next.metadata?.generation) return []
  return template === undefined ? [] : podWarnings(template, path, identity)
}

function selectorWarnings(spec: PodSpec, field: string, labels: DeprecatedLabels): readonly string[] {
  const affinity = spec.affinity?.nodeAffinity
  const requiredTerms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const preferredTerms = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const at = `${field}.affinity.nodeAffinity`
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) =>
      warningFor(labels.get(key), (message) => `${field}.nodeSelector[${key}]: ${message}`),
    ),
    ...requiredTerms.flatMap((term, i) =>
      termWarnings(term, `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`, labels),
    ),
    ...preferredTerms.flatMap(({ preference = {} }, i) =>
      termWarnings(preference, `${at}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`, labels),
    ),
    ...(spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey = '' }, i) =>
      warningFor(
        labels.get(topologyKey),
        (message) => `${field}.topologySpreadConstraints[${i}].topologyKey: ${topologyKey} is ${message}`,
      ),
    ),
  ]
}

function annotationWarnings({ annotations }: ObjectMeta, field: string, identity: Identity): readonly string[] {
  if (annotations === undefined) return []
  const messages: readonly { readonly key: string; readonly message: string }[] = [
    {
      key: identity.label('critical-pod', 'scheduler.alpha'),
      message: 'non-functional in v1.16+; use the "priorityClassName" field instead',
    },
    { key: identity.label('sysctls', 'security.alpha'), message: 'non-functional in v1.11+; use the "sysctls" field instead' },
    { key: identity.label('unsafe-sysctls', 'security.alpha'), message: 'non-functional in v1.11+; use the "sysctls" field instead' },
  ]
  return messages.flatMap(({ key, message }) => (annotations[key] === undefined ? [] : [`${field}[${key}]: ${message}`]))
}

const deprecatedVolumes: readonly { readonly name: keyof Volume; readonly reportedName?: string; readonly message: string }[] = [
  { name: 'photonPersistentDisk', message: 'deprecated in v1.11, non-functional in v1.16+' },
  { name: 'gitRepo', message: 'deprecated in v1.11' },
  { name: 'scaleIO', message: 'deprecated in v1.16, non-functional in v1.22+' },
  { name: 'flocker', message: 'deprecated in v1.22, support removal is planned in v1.26' },
  { name: 'storageos', reportedName: 'storageOS', message: 'deprecated in v1.22, support removal is planned in v1.26' },
  { name: 'quobyte', message: 'deprecated in v1.22, support removal is planned in v1.26' },
  { name: 'glusterfs', message: 'deprecated in v1.25, this feature will be removed soon after in a subsequent release' },
]

export const claimWarnings = (spec: PersistentVolumeClaimSpec | undefined, field: string): readonly string[] => [
  ...fractionWarnings(spec?.resources?.requests, 'storage', `${field}.resources.requests`),
  ...fractionWarnings(spec?.resources?.limits, 'storage', `${field}.resources.limits`),
]

function volumeWarnings(volume: Volume, field: string): readonly string[] {
  return [
    ...deprecatedVolumes.flatMap(({ name, reportedName, message }) =>
      volume[name] === undefined ? [] : [`${field}.${reportedName ?? name}: ${message}`],
    ),
    ...claimWarnings(volume.ephemeral?.volumeClaimTemplate?.spec, `${field}.ephemeral.volumeClaimTemplate.spec`),
  ]
}

interface Keyed<T> {
  readonly items: readonly T[] | undefined
  readonly keyOf: (item: T) => string
  readonly name: string
}

function duplicateWarnings<T>({ items, keyOf, name }: Keyed<T>, field: string): readonly string[] {
  const seen = new Set<string>()
  return (items ?? []).flatMap((item, i) => {
    const key = keyOf(item)
    if (seen.has(key)) return [`${field}[${i}].${name}: duplicate ${name} "${key}"`]
    seen.add(key)
    return []
  })
}

type Amounts = { readonly [name: string]: string }

function fractionWarnings(amounts: Amounts | undefined, name: string, field: string): readonly string[] {
  const amount = amounts?.[name]
  if (amount === undefined || isWhole(parseQuantity(amount))) return []
  return [`${field}[${name}]: fractional byte value "${amount}" is invalid, must be an integer`]
}

const memoryAndStorageWarnings = (amounts: Amounts | undefined, field: string): readonly string[] => [
  ...fractionWarnings(amounts, 'memory', field),
  ...fractionWarnings(amounts, 'ephemeral-storage', field),
]

function seccompWarnings({ metadata, spec }: Required<PodOrTemplate>, at: string, identity: Identity): readonly string[] {
  const { annotations } = metadata
  if (annotations === undefined) return []
  const warnings: string[] = []
  const warn = (key: string): void => {
    const message = 'deprecated since v1.19, non-functional in a future release; use the "seccompProfile" field instead'
    if (annotations[key] !== undefined) warnings.push(`${at}metadata.annotations[${key}]: ${message}`)
  }
  if (spec.securityContext?.seccompProfile === undefined) warn(podSeccompKey(identity))
  visitContainers(spec, '', ({ name = '', securityContext }) => {
    if (securityContext?.seccompProfile === undefined) warn(`${containerSeccompPrefix(identity)}${name}`)
  })
  return warnings
}

const containerWarnings = ({ resources, env }: AnyContainer, field: string): readonly string[] => [
  ...fractionWarnings(resources?.limits, 'memory', `${field}.resources.limits`),
  ...fractionWarnings(resources?.requests, 'memory', `${field}.resources.requests`),
  ...fractionWarnings(resources?.limits, 'ephemeral-storage', `${field}.resources.limits`),
  ...fractionWarnings(resources?.requests, 'ephemeral-storage', `${field}.resources.requests`),
  ...duplicateWarnings({ items: env, keyOf: ({ name = '' }) => name, name: 'name' }, `${field}.env`),
]
