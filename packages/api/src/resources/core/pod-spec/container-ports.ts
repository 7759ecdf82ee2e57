// Validation of container ports and host ports.

import { duplicate, type FieldError, invalid, required } from '../../../api/field-error.js'
import { checkChoice, checkEach, checkPort, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { portName } from '../../../api/validation/network/port-name.js'
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

function validateName(name: string, field: string, seen: Set<string>): readonly FieldError[] {
  if (name === '') return noErrors
  const errors = checkText(name, `${field}.name`, portName)
  if (errors.length > 0) return errors
  if (seen.has(name)) return [duplicate(`${field}.name`, name)]
  seen.add(name)
  return noErrors
}

/** Host ports must be unique among containers that run concurrently. */
export function validateHostPorts(containers: readonly Container[], field: string): readonly FieldError[] {
  const usedHostPorts = new Set<string>()
  return checkEach(containers, field, ({ ports }, at) =>
    checkEach(ports, `${at}.ports`, ({ hostPort = 0, protocol = '', hostIP = '' }, portAt) => {
      if (hostPort === 0) return noErrors
      const key = `${protocol}/${hostIP}/${hostPort}`
      if (usedHostPorts.has(key)) return [duplicate(`${portAt}.hostPort`, key)]
      usedHostPorts.add(key)
      return noErrors
    }),
  )
}

export const validateHostNetworkPorts = (containers: readonly Container[], field: string): readonly FieldError[] =>
  checkEach(containers, field, ({ ports }, at) =>
    checkEach(ports, `${at}.ports`, ({ hostPort = 0, containerPort = 0 }, portAt) =>
      hostPort === containerPort
        ? noErrors
        : [invalid(`${portAt}.containerPort`, containerPort, 'must match `hostPort` when `hostNetwork` is true')],
    ),
  )
