// The secrets and config maps that a pod names, wherever it does.

import { visitContainers } from '../resources/core/pod-spec/all-containers.js'
import type { PodSpec } from '../resources/core/v1.schema.js'

/** Volumes of drivers for which others make secrets name one, too. */
const secretFields = ['azureFile', 'cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos', 'csi'] as const
const refFields = ['secretRef', 'nodePublishSecretRef']

export function hasSecrets(spec: PodSpec): boolean {
  if ((spec.imagePullSecrets?.length ?? 0) > 0) return true
  const isNamed = (spec.volumes ?? []).some((volume) => {
    if (volume.secret !== undefined || volume.projected?.sources?.some(({ secret }) => secret !== undefined)) return true
    return secretFields.some((field) => {
      const source = volume[field] as { readonly [name: string]: unknown } | undefined
      return source?.['secretName'] !== undefined || refFields.some((name) => source?.[name] !== undefined)
    })
  })
  return isNamed || isInEnvironment(spec, 'secret')
}

export const hasConfigMaps = (spec: PodSpec): boolean =>
  (spec.volumes ?? []).some(
    ({ configMap, projected }) => configMap !== undefined || projected?.sources?.some((source) => source.configMap !== undefined),
  ) || isInEnvironment(spec, 'configMap')

export const hasClaims = (spec: PodSpec): boolean =>
  (spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined)

function isInEnvironment(spec: PodSpec, what: 'secret' | 'configMap'): boolean {
  let found = false
  visitContainers(spec, '', ({ env = [], envFrom = [] }) => {
    found ||= envFrom.some((source) => source[`${what}Ref`] !== undefined)
    found ||= env.some(({ valueFrom }) => valueFrom?.[`${what}KeyRef`] !== undefined)
  })
  return found
}
