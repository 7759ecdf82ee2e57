// Objects that a kubelet needs for a pod or a volume: Secrets, ConfigMaps, claims, ServiceAccount.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Container, PersistentVolume, Pod, Volume } from '@cluster-apiserver/api/resources/core/v1.schema.js'

export type ReferenceType = 'secrets' | 'configMaps' | 'claims' | 'serviceAccounts'

export type PodReferences = { readonly [S in ReferenceType]: Set<string> }

export const namespacedName = (namespace: string, name: string): string => `${namespace}/${name}`

/** Approximate memory of a set entry besides its characters. */
const nameOverheadBytes = 120

export function sizeOf(references: PodReferences): number {
  let bytes = 0
  for (const names of Object.values(references)) for (const name of names) bytes += nameOverheadBytes + name.length
  return bytes
}

/** Mirror pods are created by the kubelet itself and must not grant it anything. */
export function referencesIn({ metadata, spec = {} }: Pod, identity: Identity): PodReferences {
  const found: PodReferences = { secrets: new Set(), configMaps: new Set(), claims: new Set(), serviceAccounts: new Set() }
  if (metadata?.annotations?.[identity.label('config.mirror')] !== undefined) return found
  add(found.serviceAccounts, spec.serviceAccountName)
  for (const { name } of spec.imagePullSecrets ?? []) add(found.secrets, name)
  // As in kube-apiserver, ephemeral containers do not count: users without permission to create pods may add them.
  for (const containers of [spec.initContainers, spec.containers])
    for (const container of containers ?? []) visitContainer(container, found)
  for (const volume of spec.volumes ?? []) visitVolume(volume, metadata?.name ?? '', found)
  return found
}

const maxNameChars = 253

/** Longer names cannot exist and are not worth caching. */
export const isPossibleName = (name: string | undefined): name is string => name !== undefined && name !== '' && name.length <= maxNameChars

function add(names: Set<string>, name: string | undefined): void {
  if (isPossibleName(name)) names.add(name)
}

function visitContainer({ env = [], envFrom = [] }: Pick<Container, 'env' | 'envFrom'>, { secrets, configMaps }: PodReferences): void {
  for (const { secretRef, configMapRef } of envFrom) {
    add(secrets, secretRef?.name)
    add(configMaps, configMapRef?.name)
  }
  for (const { valueFrom } of env) {
    add(secrets, valueFrom?.secretKeyRef?.name)
    add(configMaps, valueFrom?.configMapKeyRef?.name)
  }
}

function visitVolume(volume: Volume, podName: string, { secrets, configMaps, claims }: PodReferences): void {
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
  // The claim of an ephemeral volume is named `<pod>-<volume>`.
  if (volume.ephemeral !== undefined) add(claims, `${podName}-${volume.name}`)
}

/** Secrets that the kubelet needs for a volume, as `<namespace>/<name>`; without Secrets of provisioners. */
export function* volumeSecrets({ spec = {} }: PersistentVolume): Generator<string> {
  const claimNamespace = spec.claimRef?.namespace ?? ''
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec
  const inClaimNamespace = [cephfs, flexVolume, rbd, scaleIO, iscsi].map((source) => source?.secretRef)
  const inOwnNamespace = [
    cinder?.secretRef,
    storageos?.secretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ]
  yield* secretAt(azureFile?.secretNamespace || claimNamespace, azureFile?.secretName)
  for (const ref of inClaimNamespace) yield* secretAt(ref?.namespace || claimNamespace, ref?.name)
  for (const ref of inOwnNamespace) yield* secretAt(ref?.namespace ?? '', ref?.name)
}

function* secretAt(namespace: string, name: string | undefined): Generator<string> {
  if (isPossibleName(namespace) && isPossibleName(name)) yield namespacedName(namespace, name)
}
