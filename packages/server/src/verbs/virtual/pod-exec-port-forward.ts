// pods/log, pods/exec, pods/attach and pods/portforward: URLs on the kubelet of the pod's node.

import { ApiError, badRequest, invalid, notFound } from '@cluster-apiserver/api/api/api-error.js'
import { type FieldError, forbidden, invalid as invalidField, quote } from '@cluster-apiserver/api/api/field-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { Query } from '@cluster-apiserver/api/api/options/query.js'
import { booleanParameter, integerParameter } from '@cluster-apiserver/api/api/options/query-parameters.js'
import { checkNotNegative, joined, noErrors } from '@cluster-apiserver/api/api/validation/checks.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Connect, ConnectContext, Location } from './virtual-resource-types.js'

interface Pod extends ApiObject {
  readonly spec?: {
    readonly nodeName?: string
    readonly containers?: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly ephemeralContainers?: readonly Container[]
  }
}

interface Container {
  readonly name?: string
}

/** Undefined for a pod without a node: its log is empty. */
export const readLog: Connect = (context) => {
  const options = logOptions(context)
  const pod = findObject<Pod>(context, 'pods', context.call.name)
  const container = chooseContainer(context, pod)
  const node = pod.spec?.nodeName ?? ''
  if (node === '') return undefined
  return {
    ...kubeletOf(context, node),
    path: `/containerLogs/${context.call.namespace}/${context.call.name}/${container}`,
    query: options,
    trust: booleanParameter(context.query, 'insecureSkipTLSVerifyBackend') ? 'unverifiedKubelet' : 'kubelet',
  }
}

export const runCommand: Connect = (context) =>
  connectToContainer(context, 'exec', [
    ...streams(context.query),
    ...context.query.all('command').map((argument): Parameter => ['command', argument]),
  ])

export const attachTo: Connect = (context) => connectToContainer(context, 'attach', streams(context.query))

export const forwardPorts: Connect = (context) => {
  const pod = findObject<Pod>(context, 'pods', context.call.name)
  const ports = context.query.all('ports').map((text) => portOf(text))
  return {
    ...kubeletOf(context, nodeNameOf(context, pod)),
    path: `/portForward/${context.call.namespace}/${context.call.name}`,
    query: encode(ports.length === 0 ? [] : [['port', ports.join(',')]]),
    trust: 'kubelet',
  }
}

type Parameter = readonly [name: string, value: string]

function connectToContainer(context: ConnectContext, endpoint: string, parameters: readonly Parameter[]): Location {
  const pod = findObject<Pod>(context, 'pods', context.call.name)
  const container = chooseContainer(context, pod)
  return {
    ...kubeletOf(context, nodeNameOf(context, pod)),
    path: `/${endpoint}/${context.call.namespace}/${context.call.name}/${container}`,
    query: encode(parameters),
    trust: 'kubelet',
  }
}

function nodeNameOf({ call }: ConnectContext, { spec }: Pod): string {
  if (!spec?.nodeName) throw badRequest(`pod ${call.name} does not have a host assigned`)
  return spec.nodeName
}

/** Query parameters of the API, with their names at the kubelet. */
const streamNames = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const

const streams = (query: Query): readonly Parameter[] =>
  Object.entries(streamNames).flatMap(([name, kubeletName]): readonly Parameter[] =>
    booleanParameter(query, name) ? [[kubeletName, '1']] : [],
  )

function encode(parameters: readonly Parameter[]): string {
  const ordered = parameters.toSorted(([a], [b]) => compareText(a, b))
  return new URLSearchParams(ordered.map(([name, value]): [string, string] => [name, value])).toString()
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port)) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`)
  return port
}

/** Validated before the pod is read. */
function logOptions({ call, query }: ConnectContext): string {
  const sinceSeconds = integerParameter(query, 'sinceSeconds')
  const tailLines = integerParameter(query, 'tailLines')
  const limitBytes = integerParameter(query, 'limitBytes')
  const sinceTime = timeParameter(query, 'sinceTime')
  const errors = joined(
    checkNotNegative(tailLines ?? 0, 'tailLines'),
    limitBytes === undefined || limitBytes > 0 ? noErrors : [invalidField('limitBytes', limitBytes, 'must be greater than 0')],
    checkSince(sinceSeconds, sinceTime),
  )
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, call.name, errors)
  const flags = ['follow', 'previous', 'timestamps'].flatMap((name): readonly Parameter[] =>
    booleanParameter(query, name) ? [[name, 'true']] : [],
  )
  const values = Object.entries({ sinceSeconds, sinceTime, tailLines, limitBytes }).flatMap(([name, value]): readonly Parameter[] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return encode([...flags, ...values])
}

function checkSince(seconds: number | undefined, time: string | undefined): readonly FieldError[] {
  if (seconds === undefined) return noErrors
  if (time !== undefined) return [forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified')]
  return seconds > 0 ? noErrors : [invalidField('sinceSeconds', seconds, 'must be greater than 0')]
}

const timePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** Truncated to seconds. Old clients send `null` for no time. */
function timeParameter(query: Query, name: string): string | undefined {
  const text = query.first(name) ?? ''
  if (text === '' || text === 'null') return undefined
  const time = timePattern.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time))
    throw badRequest(`parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(text)} as "2006"`)
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
}

const namesOf = (containers: readonly Container[] | undefined): readonly string[] => (containers ?? []).map(({ name = '' }) => name)

function chooseContainer({ call, query }: ConnectContext, { spec }: Pod): string {
  const wanted = query.first('container') ?? ''
  const all = [...namesOf(spec?.initContainers), ...namesOf(spec?.containers), ...namesOf(spec?.ephemeralContainers)]
  if (wanted !== '') {
    if (!all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${call.name}`)
    return wanted
  }
  const [only, ...others] = namesOf(spec?.containers)
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${call.name}`)
  if (others.length > 0) throw badRequest(`a container name must be specified for pod ${call.name}, choose one of: [${all.join(' ')}]`)
  return only
}

interface Node extends ApiObject {
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[]
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } }
  }
}

const defaultAddressTypes: readonly string[] = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const defaultKubeletPort = 10250

/** An object of the core group; throws 404 if there is none. */
export function findObject<T extends ApiObject>({ engine, catalog, call }: ConnectContext, resourceName: string, name: string): T {
  const resource = catalog.find('', 'v1', resourceName)
  if (resource === undefined) throw new Error(`there are no ${resourceName}`)
  const address = { resource, namespace: resource.namespaced ? call.namespace : '', name }
  const stored = engine.store.read(address)
  if (stored === undefined) throw notFound(resource.subject, name)
  return stored.decode(resource) as T
}

/** Address and port of a kubelet, from the status of its Node. */
export function kubeletOf(
  context: ConnectContext,
  name: string,
): Pick<Location, 'scheme' | 'host'> & { readonly port: string; readonly node: string } {
  const { status } = findObject<Node>(context, 'nodes', name)
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  return {
    scheme: 'https',
    host: addressOf(context, status?.addresses ?? []),
    port: String(port > 0 ? port : defaultKubeletPort),
    node: name,
  }
}

function addressOf({ engine }: ConnectContext, addresses: readonly { readonly type?: string; readonly address?: string }[]): string {
  for (const wanted of engine.kubelets?.addressTypes ?? defaultAddressTypes) {
    const found = addresses.find(({ type, address = '' }) => type === wanted && address !== '')
    if (found?.address !== undefined) return found.address
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')
  throw errorWithoutReason(`no preferred addresses found; known addresses: [${known}]`)
}

const errorWithoutReason = (message: string, cause?: unknown): ApiError => new ApiError({ code: 500, message }, { cause })
