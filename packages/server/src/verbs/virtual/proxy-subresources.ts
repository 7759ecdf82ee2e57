// pods/proxy, services/proxy and nodes/proxy. Names may have a scheme and a port: `https:name:port`.
// Only global unicast addresses are allowed, so that clients cannot reach loopback or link-local addresses of the server (SSRF).

import { badRequest, unavailableWithoutRetry } from '@cluster-apiserver/api/api/api-error.js'
import { quote } from '@cluster-apiserver/api/api/field-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { ipText, isGlobalUnicast, parseIp } from '@cluster-apiserver/api/api/validation/network/ip.js'
import { findObject, kubeletOf } from './pod-exec-port-forward.js'
import type { Connect, ConnectContext, Location } from './virtual-resource-types.js'

interface Pod extends ApiObject {
  readonly spec?: { readonly containers?: readonly { readonly ports?: readonly { readonly containerPort?: number }[] }[] }
  readonly status?: { readonly podIPs?: readonly { readonly ip?: string }[] }
}

interface ServiceObject extends ApiObject {
  readonly spec?: { readonly ports?: readonly { readonly port?: number; readonly name?: string }[] }
}

interface EndpointAddress {
  readonly ip?: string
  readonly targetRef?: { readonly namespace?: string; readonly name?: string }
}

interface Endpoints extends ApiObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly EndpointAddress[]
    readonly ports?: readonly { readonly name?: string; readonly port?: number }[]
  }[]
}

interface ProxyTarget {
  readonly scheme: 'http' | 'https'
  readonly name: string
  readonly port: string
}

function splitName(text: string, target: string): ProxyTarget {
  const parts = text.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || name === '' || (scheme !== '' && scheme !== 'http' && scheme !== 'https'))
    throw badRequest(`invalid ${target} request ${quote(text)}`)
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port }
}

const notAllowed = 'address not allowed'

export const proxyToPod: Connect = (context) => {
  const { scheme, name, port } = splitName(context.call.name, 'pod')
  const { spec, status } = findObject<Pod>(context, 'pods', name)
  const first = spec?.containers?.find(({ ports }) => ports !== undefined && ports.length > 0)?.ports?.[0]?.containerPort
  const ip = parseIp(status?.podIPs?.[0]?.ip ?? '')
  if (ip === undefined || !isGlobalUnicast(ip)) throw badRequest(notAllowed)
  const chosen = port !== '' ? port : first === undefined ? undefined : String(first)
  return proxyLocation(context, { scheme, host: ipText(ip), port: chosen, pod: { namespace: context.call.namespace, name } })
}

export const proxyToService: Connect = (context) => {
  const { scheme, name, port } = splitName(context.call.name, 'service')
  const portName = /^[+-]?\d+$/.test(port) ? nameOfPort(context, name, Number(port)) : port
  const { subsets = [] } = findObject<Endpoints>(context, 'endpoints', name)
  if (subsets.length === 0) throw unavailableWithoutRetry(`no endpoints available for service ${quote(name)}`)
  for (const { addresses = [], ports = [] } of rotateRandomly(subsets)) {
    for (const candidate of ports.filter((each) => (each.name ?? '') === portName)) {
      const found = rotateRandomly(addresses).find((address) => isPodAddress(context, address))
      const ip = parseIp(found?.ip ?? '')
      const pod = { namespace: context.call.namespace, name: found?.targetRef?.name ?? '' }
      if (ip !== undefined && isGlobalUnicast(ip))
        return proxyLocation(context, { scheme, host: ipText(ip), port: String(candidate.port ?? 0), pod })
    }
  }
  throw unavailableWithoutRetry(`no endpoints available for service ${quote(context.call.name)}`)
}

function nameOfPort(context: ConnectContext, name: string, port: number): string {
  const { spec } = findObject<ServiceObject>(context, 'services', name)
  const found = spec?.ports?.find((each) => each.port === port)
  if (found === undefined) throw unavailableWithoutRetry(`no service port ${port} found for service ${quote(name)}`)
  return found.name ?? ''
}

/** Starts at a random item, to spread requests. */
function rotateRandomly<T>(items: readonly T[]): readonly T[] {
  const from = Math.floor(Math.random() * items.length)
  return [...items.slice(from), ...items.slice(0, from)]
}

/** Only addresses of pods in the namespace: a writer of Endpoints must not redirect clients to other addresses. */
function isPodAddress(context: ConnectContext, { ip, targetRef }: EndpointAddress): boolean {
  if (targetRef?.namespace !== context.call.namespace) return false
  const resource = context.catalog.find('', 'v1', 'pods')
  if (resource === undefined || !targetRef.name) return false
  const stored = context.engine.store.read({ resource, namespace: context.call.namespace, name: targetRef.name })
  const pod = stored && (stored.decode(resource) as Pod)
  return pod?.status?.podIPs?.some((each) => each.ip === ip) ?? false
}

export const proxyToNode: Connect = async (context) => {
  const { scheme, name, port } = splitName(context.call.name, 'node')
  const kubelet = kubeletOf(context, name)
  // Connects to the checked address: a second lookup could return another one (DNS rebinding).
  const address = await reachableAddress(context, kubelet.host)
  const isKubelet = port === '' || port === kubelet.port
  if (!isKubelet) return proxyLocation(context, { scheme, host: address, port, node: name })
  const serverName = parseIp(kubelet.host) === undefined ? kubelet.host : undefined
  return { ...proxyLocation(context, { ...kubelet, host: address }), trust: 'kubelet', serverName }
}

/** The first address of a host. Throws if any of its addresses is not allowed. */
async function reachableAddress({ engine, call }: ConnectContext, host: string): Promise<string> {
  const literal = parseIp(host)
  const found = literal !== undefined ? [host] : await lookup(host)
  const addresses = found.map((text) => parseIp(text))
  const [first] = addresses
  if (first === undefined) throw badRequest('no addresses for hostname')
  if (!addresses.every((ip) => ip !== undefined && isGlobalUnicast(ip))) throw badRequest(notAllowed)
  return ipText(first)

  async function lookup(name: string): Promise<readonly string[]> {
    const addresses = await call.waitFor(engine.kubelets?.lookup(name).catch(() => noAddresses) ?? Promise.resolve(noAddresses))
    if (addresses.length === 0) throw badRequest(`lookup ${name}: no such host`)
    return addresses
  }
}

const noAddresses: readonly string[] = []

const proxyLocation = ({ subpath }: ConnectContext, to: Pick<Location, 'scheme' | 'host' | 'port' | 'node' | 'pod'>): Location => ({
  ...to,
  path: cleanPath(subpath),
  query: undefined,
  trust: 'workload',
})

/** Resolves `.` and `..`; keeps a trailing slash. */
function cleanPath(path: string): string {
  if (path === '') return ''
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  const clean = `/${segments.join('/')}`
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean
}
