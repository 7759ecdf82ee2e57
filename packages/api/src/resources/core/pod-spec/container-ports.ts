// The rules of ports that containers open, on themselves and on the node.

import { duplicate, type FieldError, invalid, required } from '../../../api/field-error.js'
import { checkChoice, checkEach, joined } from '../../../api/validation/collect.js'
import { checkPort, checkText, noErrors } from '../../../api/validation/fields.js'
import { portName } from '../../../api/validation/port-name.js'
import type { Container, ContainerPort } from '../v1.schema.js'

const protocols = ['SCTP', 'TCP', 'UDP']

export function validateContainerPorts(ports: readonly ContainerPort[] | undefined, field: string): readonly FieldError[] {
  if (ports === undefined) return noErrors
  const names = new Set<string>()
  return checkEach(ports, field, (port, at) => {
    const { containerPort = 0, hostPort = 0, protocol } = port
    return joined(
      validateName(port.name ?? '', at, names),
      containerPort === 0 ? [required(`${at}.containerPort`)] : checkPort(containerPort, `${at}.containerPort`),
      hostPort === 0 ? noErrors : checkPort(hostPort, `${at}.hostPort`),
      checkChoice(protocol, `${at}.protocol`, protocols),
    )
  })
}

/** Only names that are well formed are told apart. */
function validateName(name: string, field: string, seen: Set<string>): readonly FieldError[] {
  if (name === '') return noErrors
  const errors = checkText(name, `${field}.name`, portName)
  if (errors.length > 0) return errors
  if (seen.has(name)) return [duplicate(`${field}.name`, name)]
  seen.add(name)
  return noErrors
}

/** Ports of the node are shared by all containers that run at the same time. */
export function validateHostPorts(containers: readonly Container[], field: string): readonly FieldError[] {
  const taken = new Set<string>()
  return checkEach(containers, field, ({ ports }, at) =>
    checkEach(ports, `${at}.ports`, ({ hostPort = 0, protocol = '', hostIP = '' }, portAt) => {
      if (hostPort === 0) return noErrors
      const key = `${protocol}/${hostIP}/${hostPort}`
      if (taken.has(key)) return [duplicate(`${portAt}.hostPort`, key)]
      taken.add(key)
      return noErrors
    }),
  )
}

/** On the node's own network there is no other port to map to. */
export const validateHostNetworkPorts = (containers: readonly Container[], field: string): readonly FieldError[] =>
  checkEach(containers, field, ({ ports }, at) =>
    checkEach(ports, `${at}.ports`, ({ hostPort = 0, containerPort = 0 }, portAt) =>
      hostPort === containerPort
        ? noErrors
        : [invalid(`${portAt}.containerPort`, containerPort, 'must match `hostPort` when `hostNetwork` is true')],
    ),
  )
