// Ways through the server to what pods, services and nodes listen on. Names may say how to speak and to which port: `https:name:port`.
//
// Whoever may reach pods through the server may not reach the server's own machine and its neighbours that way.

import { badRequest, notThere } from '../../api/api-error.js'
import { quote } from '../../api/field-error.js'
import type { ApiObject } from '../../api/object.js'
import { ipText, isGlobalUnicast, parseIp } from '../../api/validation/ip.js'
import { leanObject } from '../../objects/lean-object.js'
import { agentOf, findObject } from './node-agent.js'
import type { Connect, Location, Way } from './signatures.js'

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

interface SpokenName {
  readonly scheme: 'http' | 'https'
  readonly name: string
  /** Empty: the usual one. */
  readonly port: string
}

function splitName(text: string, what: string): SpokenName {
  const parts = text.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || name === '' || (scheme !== '' && scheme !== 'http' && scheme !== 'https'))
    throw badRequest(`invalid ${what} request ${quote(text)}`)
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port }
}

const notAllowed = 'address not allowed'

export const proxyToPod: Connect = (way) => {
  const { scheme, name, port } = splitName(way.call.name, 'pod')
  const { spec, status } = findObject<Pod>(way, 'pods', name)
  const first = spec?.containers?.find(({ ports }) => ports !== undefined && ports.length > 0)?.ports?.[0]?.containerPort
  const ip = parseIp(status?.podIPs?.[0]?.ip ?? '')
  if (ip === undefined || !isGlobalUnicast(ip)) throw badRequest(notAllowed)
  const chosen = port !== '' ? port : first === undefined ? undefined : String(first)
  return through(way, { scheme, host: ipText(ip), port: chosen })
}

export const proxyToService: Connect = (way) => {
  const { scheme, name, port } = splitName(way.call.name, 'service')
  const portName = /^[+-]?\d+$/.test(port) ? nameOfPort(way, name, Number(port)) : port
  const { subsets = [] } = findObject<Endpoints>(way, 'endpoints', name)
  if (subsets.length === 0) throw notThere(`no endpoints available for service ${quote(name)}`)
  for (const { addresses = [], ports = [] } of fromAnywhere(subsets)) {
    for (const candidate of ports.filter((each) => (each.name ?? '') === portName)) {
      const found = fromAnywhere(addresses).find((address) => isOfPod(way, address))
      const ip = parseIp(found?.ip ?? '')
      if (ip !== undefined && isGlobalUnicast(ip)) return through(way, { scheme, host: ipText(ip), port: String(candidate.port ?? 0) })
    }
  }
  throw notThere(`no endpoints available for service ${quote(way.call.name)}`)
}

function nameOfPort(way: Way, name: string, port: number): string {
  const { spec } = findObject<ServiceObject>(way, 'services', name)
  const found = spec?.ports?.find((each) => each.port === port)
  if (found === undefined) throw notThere(`no service port ${port} found for service ${quote(name)}`)
  return found.name ?? ''
}

/** All of them, from any one on, so that requests are spread. */
function fromAnywhere<T>(items: readonly T[]): readonly T[] {
  const from = Math.floor(Math.random() * items.length)
  return [...items.slice(from), ...items.slice(0, from)]
}

/** Whoever may write endpoints may not lead others to any place they like: only to pods of the namespace, where they are. */
function isOfPod(way: Way, { ip, targetRef }: EndpointAddress): boolean {
  if (targetRef?.namespace !== way.call.namespace) return false
  const resource = way.catalog.find('', 'v1', 'pods')
  if (resource === undefined || !targetRef.name) return false
  const stored = way.engine.store.read({ resource, namespace: way.call.namespace, name: targetRef.name })
  const pod = stored && (leanObject(stored, resource) as Pod)
  return pod?.status?.podIPs?.some((each) => each.ip === ip) ?? false
}

export const proxyToNode: Connect = async (way) => {
  const { scheme, name, port } = splitName(way.call.name, 'node')
  const agent = agentOf(way, name)
  // Connects to the address that was checked: a second lookup of the name could give another one (DNS rebinding).
  const address = await reachableAddress(way, agent.host)
  const isAgent = port === '' || port === agent.port
  if (!isAgent) return through(way, { scheme, host: address, port })
  const serverName = parseIp(agent.host) === undefined ? agent.host : undefined
  return { ...through(way, { ...agent, host: address }), trust: 'agent', serverName }
}

/** One of the addresses of a name, all of which must be allowed. */
async function reachableAddress({ engine, call }: Way, host: string): Promise<string> {
  const literal = parseIp(host)
  const found = literal !== undefined ? [host] : await lookup(host)
  const addresses = found.map((text) => parseIp(text))
  const [first] = addresses
  if (first === undefined) throw badRequest('no addresses for hostname')
  if (!addresses.every((ip) => ip !== undefined && isGlobalUnicast(ip))) throw badRequest(notAllowed)
  return ipText(first)

  async function lookup(name: string): Promise<readonly string[]> {
    const answer = await call.waitFor(engine.agents?.lookup(name).catch(() => none) ?? Promise.resolve(none))
    if (answer.length === 0) throw badRequest(`lookup ${name}: no such host`)
    return answer
  }
}

const none: readonly string[] = []

const through = ({ subpath }: Way, to: Pick<Location, 'scheme' | 'host' | 'port'>): Location => ({
  ...to,
  path: cleanPath(subpath),
  query: undefined,
  trust: 'anybody',
})

/** Without the steps that lead back and forth; a slash at the end stays. */
export function cleanPath(path: string): string {
  if (path === '') return ''
  const words: string[] = []
  for (const word of path.split('/')) {
    if (word === '..') words.pop()
    else if (word !== '' && word !== '.') words.push(word)
  }
  const clean = `/${words.join('/')}`
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean
}
