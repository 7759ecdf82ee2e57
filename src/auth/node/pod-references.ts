// What a pod, or a volume, lets the agent of its node read: the objects that are named where the agent needs them.

import type { Identity } from '../../api/identity.js'
import type { Container, PersistentVolume, Pod, Volume } from '../../resources/core/v1.schema.js'
import { NameSet } from './name-set.js'

export type Sort = 'secrets' | 'configMaps' | 'claims' | 'serviceAccounts'

/** Names in the namespace of the pod. */
export type PodReferences = { readonly [S in Sort]: Pick<NameSet, 'has' | 'size' | 'letters' | typeof Symbol.iterator> }

/** How many places that may name something are looked at before others may have a turn. */
const placesPerStep = 500

/** How an object is called among those of all namespaces. */
export const textOf = (namespace: string, name: string): string => `${namespace}/${name}`

const sorts: readonly Sort[] = ['secrets', 'configMaps', 'claims', 'serviceAccounts']

export const countOf = (references: PodReferences): number => sorts.reduce((count, sort) => count + references[sort].size, 0)
export const lettersOf = (references: PodReferences): number => sorts.reduce((count, sort) => count + references[sort].letters, 0)

/** All that a pod names, as it is called among those of all namespaces. */
export function* namesIn(references: PodReferences, namespace: string): Generator<{ readonly sort: Sort; readonly text: string }> {
  for (const sort of sorts) for (const name of references[sort]) yield { sort, text: textOf(namespace, name) }
}

/** In short steps. Pods that only mirror what an agent runs by itself are made by it, and must not give it anything. */
export function* referencesIn(pod: Pod, identity: Identity): Generator<undefined, PodReferences, undefined> {
  const found = { secrets: new NameSet(), configMaps: new NameSet(), claims: new NameSet(), serviceAccounts: new NameSet() }
  if (pod.metadata?.annotations?.[identity.label('config.mirror')] !== undefined) return found
  let places = 0
  for (const _ of visitPod(pod, found)) if (++places % placesPerStep === 0) yield
  return found
}

type Found = { readonly [S in Sort]: NameSet }

/** Yields after each place that may name something. */
function* visitPod({ metadata, spec = {} }: Pod, found: Found): Generator<undefined, void, undefined> {
  add(found.serviceAccounts, spec.serviceAccountName)
  for (const { name } of spec.imagePullSecrets ?? []) {
    add(found.secrets, name)
    yield
  }
  for (const containers of [spec.initContainers, spec.containers, spec.ephemeralContainers])
    for (const container of containers ?? []) yield* visitContainer(container, found)
  for (const volume of spec.volumes ?? []) yield* visitVolume(volume, metadata?.name ?? '', found)
}

const longestName = 253

/** Nothing has a longer name, and what names it is not worth keeping. */
export const canBeName = (name: string | undefined): name is string => name !== undefined && name !== '' && name.length <= longestName

function add(names: NameSet, name: string | undefined): void {
  if (canBeName(name)) names.add(name)
}

function* visitContainer(
  { env = [], envFrom = [] }: Pick<Container, 'env' | 'envFrom'>,
  { secrets, configMaps }: Found,
): Generator<undefined, void, undefined> {
  for (const { secretRef, configMapRef } of envFrom) {
    add(secrets, secretRef?.name)
    add(configMaps, configMapRef?.name)
    yield
  }
  for (const { valueFrom } of env) {
    add(secrets, valueFrom?.secretKeyRef?.name)
    add(configMaps, valueFrom?.configMapKeyRef?.name)
    yield
  }
  yield
}

function* visitVolume(volume: Volume, podName: string, { secrets, configMaps, claims }: Found): Generator<undefined, void, undefined> {
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
    yield
  }
  add(claims, volume.persistentVolumeClaim?.claimName)
  // The claim of an ephemeral volume is made for the pod, under both names.
  if (volume.ephemeral !== undefined) add(claims, `${podName}-${volume.name}`)
  yield
}

/** Secrets that the agent needs for a volume; those for whoever provides it are not for the agent. As `<namespace>/<name>`. */
export function* volumeSecrets({ spec = {} }: PersistentVolume): Generator<string> {
  const ofClaim = spec.claimRef?.namespace ?? ''
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec
  const inNamespaceOfClaim = [cephfs, flexVolume, rbd, scaleIO, iscsi].map((source) => source?.secretRef)
  const elsewhere = [cinder?.secretRef, storageos?.secretRef, csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef]
  yield* secretAt(azureFile?.secretNamespace || ofClaim, azureFile?.secretName)
  for (const ref of inNamespaceOfClaim) yield* secretAt(ref?.namespace || ofClaim, ref?.name)
  for (const ref of elsewhere) yield* secretAt(ref?.namespace ?? '', ref?.name)
}

function* secretAt(namespace: string, name: string | undefined): Generator<string> {
  if (canBeName(namespace) && canBeName(name)) yield textOf(namespace, name)
}
