// The node ports of a service: those that its owner chose, those that it keeps, and a draw for the rest.

import { type FieldError, invalid } from '../../api/field-error.js'
import { noErrors } from '../../api/validation/fields.js'
import type { PortDraw } from './node-port-draw.js'
import { getsNodePorts, needsHealthPort, usesNodePorts } from './service-needs.js'
import type { ServicePort, ServiceSpec } from './v1.schema.js'

export interface Ported {
  readonly spec: ServiceSpec
  readonly errors: readonly FieldError[]
}

export function allocatePorts(next: ServiceSpec, old: ServiceSpec | undefined, draw: PortDraw): Ported {
  const ported = usesNodePorts(next) ? withNodePorts(next, old, draw) : { spec: next, errors: noErrors }
  if (ported.errors.length > 0 || !needsHealthPort(next) || (old !== undefined && needsHealthPort(old))) return ported
  return withHealthPort(ported.spec, draw)
}

function withNodePorts(spec: ServiceSpec, old: ServiceSpec | undefined, draw: PortDraw): Ported {
  const given = (spec.ports ?? []) as readonly ServicePort[]
  const ports: ServicePort[] = []
  const granted = old === undefined ? grantNew : grantKept(old)
  for (const [i, port] of given.entries()) {
    if ((port.nodePort ?? 0) === 0 && !getsNodePorts(spec)) {
      ports.push(port)
      continue
    }
    const outcome = granted({ port, given, done: ports }, draw)
    if (typeof outcome !== 'number') return { spec, errors: [outcome.at(`spec.ports[${i}].nodePort`)] }
    ports.push({ ...port, nodePort: outcome })
  }
  return { spec: ports.length === 0 ? spec : { ...spec, ports }, errors: noErrors }
}

interface Wish {
  readonly port: ServicePort
  readonly given: readonly ServicePort[]
  /** The ports before this one, with what they were granted. */
  readonly done: readonly ServicePort[]
}

interface Refusal {
  readonly at: (field: string) => FieldError
}

const refuse = (port: number, why: string): Refusal => ({ at: (field) => invalid(field, port, why) })
const exhausted: Refusal = {
  at: (field) => ({ reason: 'InternalError', field, message: 'Internal error: failed to allocate a nodePort: range is full' }),
}

type Grant = (wish: Wish, draw: PortDraw) => number | Refusal

/** In a new service, two protocols on one port share its port on the nodes, unless their owner wants them apart. */
const grantNew: Grant = ({ port, given, done }, draw) => {
  const { nodePort = 0 } = port
  const shared = done.find((other) => other.port === port.port && (other.nodePort ?? 0) !== 0)?.nodePort ?? 0
  if (shared !== 0 && (nodePort === 0 || nodePort === shared)) return shared
  const wanted = shared === 0 ? (given.find((other) => other.port === port.port && (other.nodePort ?? 0) !== 0)?.nodePort ?? 0) : nodePort
  return wanted === 0 ? (draw.any() ?? exhausted) : ask(wanted, draw)
}

/** In a changed one, the ports that it had need no grant. */
const grantKept =
  (old: ServiceSpec): Grant =>
  ({ port: { nodePort = 0 } }, draw) => {
    if (nodePort === 0) return draw.any() ?? exhausted
    const isKept = (old.ports ?? []).some((port) => port.nodePort === nodePort) || draw.granted.has(nodePort)
    return isKept ? nodePort : ask(nodePort, draw)
  }

function ask(port: number, draw: PortDraw): number | Refusal {
  const problem = draw.ask(port)
  return problem === undefined ? port : refuse(port, problem)
}

function withHealthPort(spec: ServiceSpec, draw: PortDraw): Ported {
  const { healthCheckNodePort: wanted = 0 } = spec
  const outcome = wanted === 0 ? (draw.any() ?? exhausted) : ask(wanted, draw)
  if (typeof outcome !== 'number') return { spec, errors: [outcome.at('spec.healthCheckNodePort')] }
  return { spec: { ...spec, healthCheckNodePort: outcome }, errors: noErrors }
}
