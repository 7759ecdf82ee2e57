// Shared by plugins: pods of a request, rejections, and references of a pod spec.

import { type ApiError, forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { visitContainers } from '@cluster-apiserver/api/resources/core/pod-spec/visit-containers.js'
import type { Container, PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { AdmissionRequest } from './admission-plugin.js'

export interface Pod extends ApiObject {
  readonly spec?: PodSpec
}

export function newPod(request: AdmissionRequest): Pod | undefined {
  const isNew = request.operation === 'CREATE' && request.subresource === '' && request.resource.collection === 'pods'
  return isNew ? request.object : undefined
}

export function writtenPod(request: AdmissionRequest): Pod | undefined {
  const { operation, subresource, resource, object } = request
  const isPodWrite = subresource === '' && resource.collection === 'pods' && (operation === 'CREATE' || operation === 'UPDATE')
  return isPodWrite ? object : undefined
}

export function refuseOnError<T>(request: AdmissionRequest, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw refuseRequest(request, (thrown as Error).message)
  }
}

export const refuseRequest = (request: AdmissionRequest, why: string): ApiError =>
  forbidden(request.resource.subject, refusedName(request), why)

const refusedName = ({ name, object }: AdmissionRequest): string =>
  name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown'

export const withSpec = (pod: Pod, changes: PodSpec): Pod => ({ ...pod, spec: { ...pod.spec, ...changes } })

export type { Container, PodSpec }

const volumeTypesWithSecrets = ['azureFile', 'cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos', 'csi'] as const
const secretRefFields = ['secretRef', 'nodePublishSecretRef']

export function hasSecrets(spec: PodSpec): boolean {
  if ((spec.imagePullSecrets?.length ?? 0) > 0) return true
  const isInVolumes = (spec.volumes ?? []).some((volume) => {
    if (volume.secret !== undefined || volume.projected?.sources?.some(({ secret }) => secret !== undefined)) return true
    return volumeTypesWithSecrets.some((field) => {
      const source = volume[field] as { readonly [name: string]: unknown } | undefined
      return source?.['secretName'] !== undefined || secretRefFields.some((name) => source?.[name] !== undefined)
    })
  })
  return isInVolumes || isInEnvironment(spec, 'secret')
}

export const hasConfigMaps = (spec: PodSpec): boolean =>
  (spec.volumes ?? []).some(
    ({ configMap, projected }) => configMap !== undefined || projected?.sources?.some((source) => source.configMap !== undefined),
  ) || isInEnvironment(spec, 'configMap')

export const hasClaims = (spec: PodSpec): boolean =>
  (spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined)

function isInEnvironment(spec: PodSpec, kind: 'secret' | 'configMap'): boolean {
  let found = false
  visitContainers(spec, '', ({ env = [], envFrom = [] }) => {
    found ||= envFrom.some((source) => source[`${kind}Ref`] !== undefined)
    found ||= env.some(({ valueFrom }) => valueFrom?.[`${kind}KeyRef`] !== undefined)
  })
  return found
}
