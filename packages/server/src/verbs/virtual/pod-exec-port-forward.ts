// Ways into a running pod, which lead over the agent on its node: its log, commands in its containers, its ports.

import { badRequest, invalid } from '../../api/api-error.js'
import { type FieldError, forbidden, invalid as invalidField, quote } from '../../api/field-error.js'
import type { ApiObject } from '../../api/object.js'
import { booleanParameter, integerParameter } from '../../api/options/parameters.js'
import type { Query } from '../../api/options/query.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { compareText } from '../../base/text-order.js'
import { agentOf, findObject } from './node-agent.js'
import type { Connect, Location, Way } from './signatures.js'

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

/** A pod that was never placed has no log. */
export const readLog: Connect = (way) => {
  const options = logOptions(way)
  const pod = findObject<Pod>(way, 'pods', way.call.name)
  const container = chooseContainer(way, pod)
  const node = pod.spec?.nodeName ?? ''
  if (node === '') return undefined
  return {
    ...agentOf(way, node),
    path: `/containerLogs/${way.call.namespace}/${way.call.name}/${container}`,
    query: options,
    trust: booleanParameter(way.query, 'insecureSkipTLSVerifyBackend') ? 'uncheckedAgent' : 'agent',
  }
}

export const runCommand: Connect = (way) =>
  intoContainer(way, 'exec', [...streams(way.query), ...way.query.all('command').map((word): Parameter => ['command', word])])

export const attachTo: Connect = (way) => intoContainer(way, 'attach', streams(way.query))

export const forwardPorts: Connect = (way) => {
  const pod = findObject<Pod>(way, 'pods', way.call.name)
  const ports = way.query.all('ports').map((text) => portOf(text))
  return {
    ...agentOf(way, placeOf(way, pod)),
    path: `/portForward/${way.call.namespace}/${way.call.name}`,
    query: encode(ports.length === 0 ? [] : [['port', ports.join(',')]]),
    trust: 'agent',
  }
}

type Parameter = readonly [name: string, value: string]

function intoContainer(way: Way, what: string, parameters: readonly Parameter[]): Location {
  const pod = findObject<Pod>(way, 'pods', way.call.name)
  const container = chooseContainer(way, pod)
  return {
    ...agentOf(way, placeOf(way, pod)),
    path: `/${what}/${way.call.namespace}/${way.call.name}/${container}`,
    query: encode(parameters),
    trust: 'agent',
  }
}

function placeOf({ call }: Way, { spec }: Pod): string {
  if (!spec?.nodeName) throw badRequest(`pod ${call.name} does not have a host assigned`)
  return spec.nodeName
}

/** What agents call the streams that clients call otherwise. */
const streamNames = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const

const streams = (query: Query): readonly Parameter[] =>
  Object.entries(streamNames).flatMap(([name, theirs]): readonly Parameter[] => (booleanParameter(query, name) ? [[theirs, '1']] : []))

function encode(parameters: readonly Parameter[]): string {
  const ordered = parameters.toSorted(([a], [b]) => compareText(a, b))
  return new URLSearchParams(ordered.map(([name, value]): [string, string] => [name, value])).toString()
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port)) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`)
  return port
}

/** Looked at before anything else: they are wrong whatever the pod is like. */
function logOptions({ call, query }: Way): string {
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

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** A moment, to the second; no text, and the `null` of old clients, is none. */
function timeParameter(query: Query, name: string): string | undefined {
  const text = query.first(name) ?? ''
  if (text === '' || text === 'null') return undefined
  const time = timeForm.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time))
    throw badRequest(`parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(text)} as "2006"`)
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
}

const namesOf = (containers: readonly Container[] | undefined): readonly string[] => (containers ?? []).map(({ name = '' }) => name)

/** The one that is asked for, or the only one. */
function chooseContainer({ call, query }: Way, { spec }: Pod): string {
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
