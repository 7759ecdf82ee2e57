// The rules of how a pod resolves names: its policy, its own servers and searches, and entries of its hosts file.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { byteLength } from '../../../api/validation/byte-length.js'
import { checkChoice, checkEach, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { parseIp } from '../../../api/validation/ip.js'
import { dnsSubdomain } from '../../../api/validation/text-rules.js'
import type { HostAlias, PodDNSConfig, PodSpec } from '../v1.schema.js'
import type { PodRules } from './pod-rules.js'

const policies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']

export const validateDnsPolicy = (policy: string | undefined, field: string): readonly FieldError[] => checkChoice(policy, field, policies)

/** Limits of the resolver in the C library of Linux, of old and of late. */
const maxServers = 3
const limits = { expanded: { searches: 32, characters: 2048 }, legacy: { searches: 6, characters: 256 } }

export function validateDnsConfig({ dnsConfig, dnsPolicy }: PodSpec, field: string, rules: PodRules): readonly FieldError[] {
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    if ((dnsConfig.nameservers ?? []).length === 0) {
      return [required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
    }
  }
  if (dnsConfig === undefined) return noErrors
  return joined(
    validateServers(dnsConfig.nameservers ?? [], `${field}.nameservers`),
    validateSearches(dnsConfig.searches ?? [], `${field}.searches`, rules),
    validateOptions(dnsConfig, `${field}.options`),
  )
}

const validateServers = (servers: readonly string[], field: string): readonly FieldError[] =>
  joined(
    servers.length > maxServers ? [invalid(field, servers, `must not have more than ${maxServers} nameservers`)] : noErrors,
    checkEach(servers, field, (server, at) =>
      parseIp(server) === undefined ? [invalid(at, server, 'must be valid IP address')] : noErrors,
    ),
  )

function validateSearches(searches: readonly string[], field: string, { gates }: PodRules): readonly FieldError[] {
  const limit = gates('ExpandedDNSConfig') ? limits.expanded : limits.legacy
  return joined(
    searches.length > limit.searches ? [invalid(field, searches, `must not have more than ${limit.searches} search paths`)] : noErrors,
    byteLength(searches.join(' ')) > limit.characters
      ? [invalid(field, searches, `must not have more than ${limit.characters} characters (including spaces) in the search list`)]
      : noErrors,
    checkEach(searches, field, (search, at) => checkText(search.endsWith('.') ? search.slice(0, -1) : search, at, dnsSubdomain)),
  )
}

const validateOptions = ({ options }: PodDNSConfig, field: string): readonly FieldError[] =>
  checkEach(options, field, ({ name = '' }, at) => (name === '' ? [required(at, 'must not be empty')] : noErrors))

/** What is wrong with an entry is reported for the list, whichever entry it is. */
export const validateHostAliases = (aliases: readonly HostAlias[] | undefined, field: string): readonly FieldError[] =>
  checkEach(aliases, field, ({ ip = '', hostnames }) =>
    joined(
      parseIp(ip) === undefined ? [invalid(`${field}.ip`, ip, 'must be valid IP address')] : noErrors,
      checkEach(hostnames, field, (name) => checkText(name, `${field}.hostnames`, dnsSubdomain)),
    ),
  )
