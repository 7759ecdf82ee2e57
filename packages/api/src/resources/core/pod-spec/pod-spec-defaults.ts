// Defaults of pod specs, in pods and pod templates.

import type { Identity } from '../../../api/identity.js'
import type {
  Container,
  DownwardAPIVolumeFile,
  EnvVar,
  HTTPGetAction,
  LifecycleHandler,
  ObjectFieldSelector,
  PersistentVolumeClaimSpec,
  PodSpec,
  PodTemplateSpec,
  Probe,
  ResourceRequirements,
  Volume,
  VolumeProjection,
  VolumeSource,
} from '../v1.schema.js'
import { withoutInitAnnotations } from './pod-annotations.js'
import { roundedResources } from './resource-requirements.js'
import { type AnyContainer, mapContainers, mapItems, withChanged, withMissing } from './visit-containers.js'
import { volumeSourceNames } from './volumes.js'

const pathPattern = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*'
const hostPattern = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const registryDomain = new RegExp(`^${hostPattern}(?:\\.${hostPattern})*(?::[0-9]+)?$`)
const pathTagAndDigest = new RegExp(
  `^${pathPattern}(?::(\\w[\\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
)
const imageId = /^[a-f0-9]{64}$/

export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(slash, 0))
  // Without a domain, the first segment is a folder of the default registry.
  const isDomain = first === 'localhost' || /[.:]/.test(first)
  if (imageId.test(image) || (isDomain && !registryDomain.test(first))) return 'IfNotPresent'
  const match = pathTagAndDigest.exec(isDomain ? image.slice(slash + 1) : image)
  if (match === null) return 'IfNotPresent'
  const [, tag, digest] = match
  if (nameLength(image, tag, digest, isDomain) > maxNameLength) return 'IfNotPresent'
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent'
}

const maxNameLength = 255
const defaultRegistry = 'docker.io/'
const defaultFolder = 'library/'

function nameLength(image: string, tag = '', digest = '', isDomain: boolean): number {
  const withoutTagAndDigest = image.length - digest.length - (tag === '' ? 0 : tag.length + 1)
  if (isDomain) return withoutTagAndDigest
  return defaultRegistry.length + (image.includes('/') ? 0 : defaultFolder.length) + withoutTagAndDigest
}

const containerDefaults = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' } as const
const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const
const httpGetDefaults = { path: '/', scheme: 'HTTP' } as const

function withContainerDefaults<T extends AnyContainer>(container: T): T {
  let next: Container = container
  if (next.imagePullPolicy === undefined) next = { ...next, imagePullPolicy: pullPolicyOf(next.image ?? '') }
  next = withMissing<Container>(next, containerDefaults)
  next = withChanged(next, 'ports', withProtocols)
  next = withChanged(next, 'env', (variables) => mapItems(variables, withVariableDefaults))
  next = withChanged(next, 'resources', withRoundedResources)
  next = withChanged(next, 'livenessProbe', withProbeDefaults)
  next = withChanged(next, 'readinessProbe', withProbeDefaults)
  next = withChanged(next, 'startupProbe', withProbeDefaults)
  next = withChanged(next, 'lifecycle', (lifecycle) =>
    withChanged(withChanged(lifecycle, 'postStart', withActionDefaults), 'preStop', withActionDefaults),
  )
  return next as T
}

const withProtocols = (ports: NonNullable<Container['ports']>): NonNullable<Container['ports']> =>
  mapItems(ports, (port) => (port.protocol === undefined ? { ...port, protocol: 'TCP' } : port))

const withVariableDefaults = (variable: EnvVar): EnvVar =>
  withChanged(variable, 'valueFrom', (source) =>
    withChanged(withChanged(source, 'fieldRef', withApiVersion), 'resourceFieldRef', withDivisor),
  )

const withApiVersion = (reference: ObjectFieldSelector): ObjectFieldSelector => withMissing(reference, { apiVersion: 'v1' })

const withDivisor = <T extends { readonly divisor?: string }>(reference: T): T =>
  reference.divisor === undefined ? { ...reference, divisor: '0' } : reference

const withRoundedResources = (resources: ResourceRequirements): ResourceRequirements =>
  withChanged(withChanged(resources, 'limits', roundedResources), 'requests', roundedResources)

const withHttpDefaults = (action: HTTPGetAction): HTTPGetAction => withMissing<HTTPGetAction>(action, httpGetDefaults)

const withActionDefaults = (handler: LifecycleHandler): LifecycleHandler => withChanged(handler, 'httpGet', withHttpDefaults)

const withProbeDefaults = (probe: Probe): Probe =>
  withChanged(withChanged(withMissing<Probe>(probe, probeDefaults), 'httpGet', withHttpDefaults), 'grpc', (action) =>
    withMissing(action, { service: '' }),
  )

/** With hostNetwork, hostPort defaults to containerPort. */
const withHostPorts = (containers: readonly Container[]): readonly Container[] =>
  mapItems(containers, (container) =>
    withChanged(container, 'ports', (ports) =>
      mapItems(ports, (port) =>
        port.hostPort === undefined && port.containerPort !== undefined ? { ...port, hostPort: port.containerPort } : port,
      ),
    ),
  )

/** Requests default to limits. */
const withRequests = (containers: readonly Container[]): readonly Container[] =>
  mapItems(containers, (container) => withChanged(container, 'resources', withRequestDefaultsOf))

function withRequestDefaultsOf(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources
  const requests = withMissing(resources.requests ?? {}, resources.limits)
  return requests === resources.requests ? resources : { ...resources, requests }
}

const fileMode = 0o644
const tokenSeconds = 3600

const sourceDefaults: { readonly [Name in keyof VolumeSource]?: VolumeSource[Name] } = {
  hostPath: { type: '' },
  secret: { defaultMode: fileMode },
  configMap: { defaultMode: fileMode },
  downwardAPI: { defaultMode: fileMode },
  projected: { defaultMode: fileMode },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
}
const namesWithDefaults = Object.keys(sourceDefaults) as readonly (keyof VolumeSource)[]

function withVolumeDefaults(volume: Volume): Volume {
  if (!volumeSourceNames.some((name) => volume[name] !== undefined)) return { ...volume, emptyDir: {} }
  let next = volume
  for (const name of namesWithDefaults) {
    if (next[name] !== undefined) next = withChanged(next, name, (source) => withMissing(source, sourceDefaults[name] as typeof source))
  }
  next = withChanged(next, 'downwardAPI', (source) => withChanged(source, 'items', withFileDefaults))
  next = withChanged(next, 'projected', (source) => withChanged(source, 'sources', (sources) => mapItems(sources, withProjectionDefaults)))
  return withChanged(next, 'ephemeral', (source) =>
    withChanged(source, 'volumeClaimTemplate', (template) => withChanged(withMissing(template, { spec: {} }), 'spec', withClaimDefaults)),
  )
}

const withFileDefaults = (files: readonly DownwardAPIVolumeFile[]): readonly DownwardAPIVolumeFile[] =>
  mapItems(files, (file) => withChanged(withChanged(file, 'fieldRef', withApiVersion), 'resourceFieldRef', withDivisor))

const withProjectionDefaults = (projection: VolumeProjection): VolumeProjection =>
  withChanged(
    withChanged(projection, 'serviceAccountToken', (token) => withMissing(token, { expirationSeconds: tokenSeconds })),
    'downwardAPI',
    (source) => withChanged(source, 'items', withFileDefaults),
  )

export const withClaimDefaults = (spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec =>
  withChanged(withMissing(spec, { volumeMode: 'Filesystem' }), 'resources', withRoundedResources)

const specDefaults: PodSpec = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  schedulerName: 'default-scheduler',
}

export function withPodSpecDefaults(spec: PodSpec): PodSpec {
  let next = withMissing(withServiceAccount(spec), specDefaults)
  if (next.hostNetwork === true) next = withChanged(withChanged(next, 'containers', withHostPorts), 'initContainers', withHostPorts)
  next = withChanged(next, 'volumes', (volumes) => mapItems(volumes, withVolumeDefaults))
  next = mapContainers(next, withContainerDefaults)
  return withChanged(next, 'overhead', roundedResources)
}

/** serviceAccount is the deprecated name of serviceAccountName. */
function withServiceAccount(spec: PodSpec): PodSpec {
  const account = spec.serviceAccountName ?? spec.serviceAccount
  if (account === undefined || (spec.serviceAccountName === account && spec.serviceAccount === account)) return spec
  return { ...spec, serviceAccountName: account, serviceAccount: account }
}

/** Defaults of pods that templates do not get. */
export function withPodDefaults(spec: PodSpec): PodSpec {
  const withRequestDefaults = withChanged(withChanged(spec, 'containers', withRequests), 'initContainers', withRequests)
  return withPodSpecDefaults(withMissing(withRequestDefaults, { enableServiceLinks: true }))
}

export function withTemplateDefaults(template: PodTemplateSpec | undefined, identity: Identity): PodTemplateSpec {
  const spec = withPodSpecDefaults(template?.spec ?? {})
  return withoutInitAnnotations(template !== undefined && spec === template.spec ? template : { ...template, spec }, identity)
}
