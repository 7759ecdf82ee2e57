// What a pod, or a volume, lets the agent of its node read: the objects that are named where the agent needs them.

import type { Identity } from '../../api/identity.js'
import type { Container, PersistentVolume, Pod, Volume } from '../../resources/core/v1.schema.js'

export interface PodReferences {
  readonly secrets: ReadonlySet<string>
  readonly configMaps: ReadonlySet<string>
  readonly claims: ReadonlySet<string>
  readonly serviceAccount: string
}

const nothing: PodReferences = { secrets: new Set(), configMaps: new Set(), claims: new Set(), serviceAccount: '' }

/** Pods that only mirror what an agent runs by itself are made by it, and must not give it anything. */
export function referencesOf(pod: Pod, identity: Identity): PodReferences {
  if (pod.metadata?.annotations?.[identity.label('config.mirror')] !== undefined) return nothing
  const { spec = {} } = pod
  const found = { secrets: new Set<string>(), configMaps: new Set<string>(), claims: new Set<string>() }
  for (const { name } of spec.imagePullSecrets ?? []) add(found.secrets, name)
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])])
    visitContainer(container, found)
  for (const volume of spec.volumes ?? []) visitVolume(volume, pod.metadata?.name ?? '', found)
  return { ...found, serviceAccount: spec.serviceAccountName ?? '' }
}

interface Found {
  readonly secrets: Set<string>
  readonly configMaps: Set<string>
  readonly claims: Set<string>
}

function add(names: Set<string>, name: string | undefined): void {
  if (name !== undefined && name !== '') names.add(name)
}

function visitContainer({ env = [], envFrom = [] }: Pick<Container, 'env' | 'envFrom'>, { secrets, configMaps }: Found): void {
  for (const { secretRef, configMapRef } of envFrom) {
    add(secrets, secretRef?.name)
    add(configMaps, configMapRef?.name)
  }
  for (const { valueFrom } of env) {
    add(secrets, valueFrom?.secretKeyRef?.name)
    add(configMaps, valueFrom?.configMapKeyRef?.name)
  }
}

function visitVolume(volume: Volume, podName: string, { secrets, configMaps, claims }: Found): void {
  add(secrets, volume.secret?.secretName)
  add(secrets, volume.azureFile?.secretName)
  for (const { secretRef } of [
    volume.cephfs,
    volume.cinder,
    volume.flexVolume,
    volume.rbd,
    volume.scaleIO,
    volume.iscsi,
    volume.storageos,
  ].filter((source) => source !== undefined))
    add(secrets, secretRef?.name)
  add(secrets, volume.csi?.nodePublishSecretRef?.name)
  add(configMaps, volume.configMap?.name)
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    add(secrets, secret?.name)
    add(configMaps, configMap?.name)
  }
  add(claims, volume.persistentVolumeClaim?.claimName)
  // The claim of an ephemeral volume is made for the pod, under both names.
  if (volume.ephemeral !== undefined) claims.add(`${podName}-${volume.name}`)
}

/** Secrets that the agent needs for a volume; those for whoever provides it are not for the agent. As `<namespace>/<name>`. */
export function* volumeSecrets({ spec = {} }: PersistentVolume): Generator<string> {
  const ofClaim = spec.claimRef?.namespace ?? ''
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec
  if (azureFile?.secretName) yield `${azureFile.secretNamespace || ofClaim}/${azureFile.secretName}`
  for (const ref of [cephfs, flexVolume, rbd, scaleIO, iscsi].map((source) => source?.secretRef))
    if (ref?.name) yield `${ref.namespace || ofClaim}/${ref.name}`
  for (const ref of [cinder?.secretRef, storageos?.secretRef]) if (ref?.name) yield `${ref.namespace ?? ''}/${ref.name}`
  for (const ref of [csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef])
    if (ref?.name) yield `${ref.namespace ?? ''}/${ref.name}`
}
