// Every pod runs as a service account, and is given that account's token unless somebody says no.

import type { ApiObject } from '../../api/object.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { Lookup } from '../lookup.js'
import { hasSecrets } from '../pod-references.js'
import { type Container, newPod, type Pod, type PodSpec, refusePod, withSpec } from '../pods.js'

interface ServiceAccount extends ApiObject {
  readonly automountServiceAccountToken?: boolean
  readonly imagePullSecrets?: readonly { readonly name?: string }[]
  readonly secrets?: readonly { readonly name?: string }[]
}

export interface ServiceAccountOptions {
  readonly lookup: Lookup
  readonly randomSuffix: (length: number) => string
}

const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' }
/** Longer than an hour by a little, so that tokens are told apart from those that asked for an hour. */
const tokenSeconds = 3607
const readableMode = 420
const suffixLength = 5

export function serviceAccount({ lookup, randomSuffix }: ServiceAccountOptions): Plugin {
  return {
    name: 'ServiceAccount',
    collections: ['pods'],
    mutate: (request) => {
      const pod = newPod(request)
      if (pod === undefined) return request.object
      if (isMirror(request, pod)) {
        checkMirror(request, pod)
        return request.object
      }
      const name = pod.spec?.serviceAccountName || 'default'
      const account = accountOf(lookup, request, name)
      // The first field has an older name, which old clients still read.
      const named = withSpec(pod, { serviceAccountName: name, serviceAccount: name })
      const mounted = wantsToken(named, account) ? withToken(request, named, randomSuffix) : named
      const pulls = (mounted.spec?.imagePullSecrets?.length ?? 0) > 0 || account.imagePullSecrets === undefined
      return pulls ? mounted : withSpec(mounted, { imagePullSecrets: account.imagePullSecrets ?? [] })
    },
    validate: (request) => checkReferences(lookup, request),
  }
}

const isMirror = ({ identity }: AdmissionRequest, { metadata }: Pod): boolean =>
  metadata?.annotations?.[identity.label('config.mirror')] !== undefined

/** What runs on a node by itself gets nothing from the server. */
function checkMirror(request: AdmissionRequest, { spec = {} }: Pod): void {
  if ((spec.serviceAccountName ?? '') !== '') throw refusePod(request, 'a mirror pod may not reference service accounts')
  if (hasSecrets(spec)) throw refusePod(request, 'a mirror pod may not reference secrets')
  const projectsToken = (spec.volumes ?? []).some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
  )
  if (projectsToken) throw refusePod(request, 'a mirror pod may not use service account token volume projections')
}

function accountOf(lookup: Lookup, request: AdmissionRequest, name: string): ServiceAccount {
  const found = lookup.read<ServiceAccount>(accounts, { namespace: request.namespace, name })
  if (found !== undefined) return found
  throw refusePod(
    request,
    `error looking up service account ${request.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
  )
}

const wantsToken = ({ spec }: Pod, account: ServiceAccount): boolean =>
  spec?.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true

/** A volume with the token, and a mount of it in every container that has nothing at that place. */
function withToken(request: AdmissionRequest, pod: Pod, randomSuffix: (length: number) => string): Pod {
  const { identity } = request
  const place = `/var/run/secrets/${identity.label('serviceaccount')}`
  const prefix = `${identity.prefixed('api-access')}-`
  const present = pod.spec?.volumes ?? []
  const name = present.find((volume) => volume.name?.startsWith(prefix))?.name ?? `${prefix}${randomSuffix(suffixLength)}`
  let isMounted = false
  const mount = (container: Container): Container => {
    if (container.volumeMounts?.some(({ mountPath }) => mountPath === place)) return container
    isMounted = true
    return { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: place }] }
  }
  const initContainers = pod.spec?.initContainers?.map(mount)
  const containers = pod.spec?.containers?.map(mount)
  const needsVolume = isMounted && !present.some((volume) => volume.name === name)
  return withSpec(pod, {
    ...(initContainers === undefined ? {} : { initContainers }),
    ...(containers === undefined ? {} : { containers }),
    ...(needsVolume ? { volumes: [...present, tokenVolume(name, identity.prefixed('root-ca.crt'))] } : {}),
  })
}

const tokenVolume = (name: string, authority: string): NonNullable<PodSpec['volumes']>[number] => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
      { configMap: { name: authority, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: readableMode,
  },
})

/** The ways in which an annotation says so. */
const yes: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'True', 'TRUE'])

/** An account may be limited to the secrets that it lists. */
function checkReferences(lookup: Lookup, request: AdmissionRequest): void {
  const isDebugging =
    request.resource.collection === 'pods' && request.subresource === 'ephemeralcontainers' && request.operation === 'UPDATE'
  const pod = isDebugging ? (request.object as Pod | undefined) : newPod(request)
  if (pod === undefined) return
  if (isMirror(request, pod)) {
    if (!isDebugging) checkMirror(request, pod)
    return
  }
  const account = accountOf(lookup, request, pod.spec?.serviceAccountName ?? '')
  if (!yes.has(account.metadata?.annotations?.[request.identity.label('enforce-mountable-secrets')] ?? '')) return
  const problem = isDebugging ? environmentProblem('ephemeral container', pod.spec?.ephemeralContainers, account) : podProblem(pod, account)
  if (problem !== undefined) throw refusePod(request, problem)
}

const lists = (names: ServiceAccount['secrets'], wanted = ''): boolean => (names ?? []).some(({ name }) => name === wanted)

function podProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  const name = account.metadata?.name
  const volume = spec?.volumes?.find(({ secret }) => secret !== undefined && !lists(account.secrets, secret.secretName))
  if (volume !== undefined)
    return `volume with secret.secretName="${volume.secret?.secretName}" is not allowed because service account ${name} does not reference that secret`
  const inContainers =
    environmentProblem('init container', spec?.initContainers, account) ?? environmentProblem('container', spec?.containers, account)
  if (inContainers !== undefined) return inContainers
  const index = spec?.imagePullSecrets?.findIndex((secret) => !lists(account.imagePullSecrets, secret.name)) ?? -1
  if (index < 0) return undefined
  return `imagePullSecrets[${index}].name="${spec?.imagePullSecrets?.[index]?.name}" is not allowed because service account ${name} does not reference that imagePullSecret`
}

function environmentProblem(
  what: string,
  containers: readonly Pick<Container, 'name' | 'env'>[] | undefined,
  account: ServiceAccount,
): string | undefined {
  for (const { name, env } of containers ?? []) {
    const variable = env?.find(
      ({ valueFrom }) => valueFrom?.secretKeyRef !== undefined && !lists(account.secrets, valueFrom.secretKeyRef.name),
    )
    if (variable === undefined) continue
    return `${what} ${name} with envVar ${variable.name} referencing secret.secretName="${variable.valueFrom?.secretKeyRef?.name}" is not allowed because service account ${account.metadata?.name} does not reference that secret`
  }
  return undefined
}
