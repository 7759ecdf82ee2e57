// What works, but not as long or not in the way its author may think: told with the answer to whoever writes it.

import type { Identity } from '../../../api/identity.js'
import type { ApiObject, ObjectMeta } from '../../../api/object.js'
import { parseQuantity } from '../../../schema/quantity.js'
import { type OldLabels, oldNodeLabels, termWarnings, told } from '../old-node-labels.js'
import type { PersistentVolumeClaimSpec, PodSpec, PodTemplateSpec, Volume } from '../v1.schema.js'
import { type AnyContainer, visitContainers } from './all-containers.js'
import { isWhole } from './quantities.js'
import { containerSeccompPrefix, podSeccompKey } from './seccomp.js'

interface Specified {
  readonly metadata?: ObjectMeta
  readonly spec?: PodSpec
}

/** Warnings of a pod, or of a template at a path such as `spec.template`. */
export function podWarnings({ metadata = {}, spec = {} }: Specified, path: string, identity: Identity): readonly string[] {
  const at = path === '' ? '' : `${path}.`
  const labels = oldNodeLabels(identity)
  const warnings = [
    ...selectorWarnings(spec, `${at}spec`, labels),
    ...annotationWarnings(metadata, `${at}metadata.annotations`, identity),
    ...(spec.volumes ?? []).flatMap((volume, i) => volumeWarnings(volume, `${at}spec.volumes[${i}]`)),
    ...repeated({ items: spec.hostAliases, keyOf: ({ ip = '' }) => ip, name: 'ip' }, `${at}spec.hostAliases`),
    ...repeated({ items: spec.imagePullSecrets, keyOf: ({ name = '' }) => name, name: 'name' }, `${at}spec.imagePullSecrets`),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name = '' }, i) =>
      name === '' ? [`${at}spec.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
    ),
    ...fractions(spec.overhead, `${at}spec.overhead`),
    ...seccompWarnings({ metadata, spec }, at, identity),
  ]
  visitContainers(spec, `${at}spec`, (container, field) => warnings.push(...containerWarnings(container, field)))
  return warnings
}

interface TemplateChange {
  readonly next: ApiObject
  readonly old: ApiObject | undefined
  readonly template: PodTemplateSpec | undefined
  /** Such as `spec.template`. */
  readonly path: string
  readonly identity: Identity
}

/** Warnings of a template that is new or has changed, as the object's generation tells. */
export function templateWarnings({ next, old, template, path, identity }: TemplateChange): readonly string[] {
  if (old !== undefined && old.metadata?.generation === next.metadata?.generation) return []
  return template === undefined ? [] : podWarnings(template, path, identity)
}

function selectorWarnings(spec: PodSpec, field: string, labels: OldLabels): readonly string[] {
  const affinity = spec.affinity?.nodeAffinity
  const needed = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const wanted = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const at = `${field}.affinity.nodeAffinity`
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) =>
      told(labels.get(key), (message) => `${field}.nodeSelector[${key}]: ${message}`),
    ),
    ...needed.flatMap((term, i) =>
      termWarnings(term, `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`, labels),
    ),
    ...wanted.flatMap(({ preference = {} }, i) =>
      termWarnings(preference, `${at}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`, labels),
    ),
    ...(spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey = '' }, i) =>
      told(labels.get(topologyKey), (message) => `${field}.topologySpreadConstraints[${i}].topologyKey: ${topologyKey} is ${message}`),
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

const goneVolumes: readonly { readonly name: keyof Volume; readonly reported?: string; readonly message: string }[] = [
  { name: 'photonPersistentDisk', message: 'deprecated in v1.11, non-functional in v1.16+' },
  { name: 'gitRepo', message: 'deprecated in v1.11' },
  { name: 'scaleIO', message: 'deprecated in v1.16, non-functional in v1.22+' },
  { name: 'flocker', message: 'deprecated in v1.22, support removal is planned in v1.26' },
  { name: 'storageos', reported: 'storageOS', message: 'deprecated in v1.22, support removal is planned in v1.26' },
  { name: 'quobyte', message: 'deprecated in v1.22, support removal is planned in v1.26' },
  { name: 'glusterfs', message: 'deprecated in v1.25, this feature will be removed soon after in a subsequent release' },
]

/** Warnings of a claim for storage, or of a template of one. */
export const claimWarnings = (spec: PersistentVolumeClaimSpec | undefined, field: string): readonly string[] => [
  ...fraction(spec?.resources?.requests, 'storage', `${field}.resources.requests`),
  ...fraction(spec?.resources?.limits, 'storage', `${field}.resources.limits`),
]

function volumeWarnings(volume: Volume, field: string): readonly string[] {
  return [
    ...goneVolumes.flatMap(({ name, reported, message }) =>
      volume[name] === undefined ? [] : [`${field}.${reported ?? name}: ${message}`],
    ),
    ...claimWarnings(volume.ephemeral?.volumeClaimTemplate?.spec, `${field}.ephemeral.volumeClaimTemplate.spec`),
  ]
}

interface Keyed<T> {
  readonly items: readonly T[] | undefined
  readonly keyOf: (item: T) => string
  /** What the key is called. */
  readonly name: string
}

function repeated<T>({ items, keyOf, name }: Keyed<T>, field: string): readonly string[] {
  const seen = new Set<string>()
  return (items ?? []).flatMap((item, i) => {
    const key = keyOf(item)
    if (seen.has(key)) return [`${field}[${i}].${name}: duplicate ${name} "${key}"`]
    seen.add(key)
    return []
  })
}

type Amounts = { readonly [name: string]: string }

function fraction(amounts: Amounts | undefined, name: string, field: string): readonly string[] {
  const amount = amounts?.[name]
  if (amount === undefined || isWhole(parseQuantity(amount))) return []
  return [`${field}[${name}]: fractional byte value "${amount}" is invalid, must be an integer`]
}

const fractions = (amounts: Amounts | undefined, field: string): readonly string[] => [
  ...fraction(amounts, 'memory', field),
  ...fraction(amounts, 'ephemeral-storage', field),
]

function seccompWarnings({ metadata, spec }: Required<Specified>, at: string, identity: Identity): readonly string[] {
  const { annotations } = metadata
  if (annotations === undefined) return []
  const warnings: string[] = []
  const say = (key: string): void => {
    const message = 'deprecated since v1.19, non-functional in a future release; use the "seccompProfile" field instead'
    if (annotations[key] !== undefined) warnings.push(`${at}metadata.annotations[${key}]: ${message}`)
  }
  if (spec.securityContext?.seccompProfile === undefined) say(podSeccompKey(identity))
  visitContainers(spec, '', ({ name = '', securityContext }) => {
    if (securityContext?.seccompProfile === undefined) say(`${containerSeccompPrefix(identity)}${name}`)
  })
  return warnings
}

const containerWarnings = ({ resources, env }: AnyContainer, field: string): readonly string[] => [
  ...fraction(resources?.limits, 'memory', `${field}.resources.limits`),
  ...fraction(resources?.requests, 'memory', `${field}.resources.requests`),
  ...fraction(resources?.limits, 'ephemeral-storage', `${field}.resources.limits`),
  ...fraction(resources?.requests, 'ephemeral-storage', `${field}.resources.requests`),
  ...repeated({ items: env, keyOf: ({ name = '' }) => name, name: 'name' }, `${field}.env`),
]
