// What went wrong, as people are told: in the words that scripts know, and with what to do about it where that is known.

import { printable } from '../base/printable.js'
import type { StatusError } from '../client/errors.js'
import { UsageError } from './flags.js'

/** Ends the command with a code, and says nothing more. */
export class Exit extends Error {
  override readonly name = 'Exit'
  readonly code: number

  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** A sentence for people, behind `error: `. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** What others wrote stands in messages: no control character of theirs is left. */
export const explain = (thrown: unknown, when = ''): string => printable(sentenceFor(thrown, when))

function sentenceFor(thrown: unknown, when: string): string {
  const { name, message } = thrown instanceof Error ? thrown : { name: '', message: String(thrown) }
  if (name === 'StatusError') return explainStatus(thrown as StatusError, when)
  if (name === 'ConnectionError') return explainConnection(thrown as Error & { readonly code: string })
  if (name === 'ConfigError')
    return `error: ${message}\n  see: clusterctl config view; --kubeconfig names another file, --server another server\n`
  if (name === 'CredentialError') return `error: ${message}\n`
  if (name === 'TimeoutError') return `error: ${message}; --request-timeout says how long to wait\n`
  if (thrown instanceof UsageError || thrown instanceof Failure) return `error: ${message}\n`
  return `error: ${when}${ofSystem(message)}\n`
}

/** In the order in which other programs tell it: what was tried, with which file, and what came of it. */
const ofSystem = (message: string): string => message.replace(/^E[A-Z0-9]+: ([^,]+), (\w+) '(.*)'$/, '$2 $3: $1')

function explainStatus({ code, reason, message, causes, details }: StatusError, when: string): string {
  if (code === 422 || reason === 'Invalid') {
    if (details.kind === undefined || details.kind === '') return `The request is invalid: ${message}\n`
    // Several rules may say the same of one field.
    const told = [...new Set(causes.map(({ field, message: what }) => `${field}: ${what}`))]
    if (told.length < 2) return `The ${causes.length < 2 ? message : `${details.kind} "${details.name ?? ''}" is invalid: ${told[0]}`}\n`
    return `The ${details.kind} "${details.name ?? ''}" is invalid: ${told.map((each) => `\n* ${each}`).join('')}\n`
  }
  const isMore = message !== '' && message !== reason
  if (code === 401) return `error: You must be logged in to the server (${reason || 'Unauthorized'})${isMore ? `: ${message}` : ''}\n`
  return `Error from server (${reason || code}): ${when}${message}\n`
}

function explainConnection({ message, code }: Error & { readonly code: string }): string {
  const what: { readonly [code: string]: string } = {
    ECONNREFUSED: 'nobody listens there: does the server run, and is that its address?',
    ENOTFOUND: 'there is no such host: is the address of the server right?',
    ETIMEDOUT: 'it does not answer: is it reachable from here?',
    SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an authority that is not trusted: --certificate-authority names the right one',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is of nobody who is trusted: --certificate-authority names the right one',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an authority that is not trusted: --certificate-authority names the right one',
    ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name: --tls-server-name says which',
  }
  return `error: cannot reach the server: ${message}${what[code] === undefined ? '' : `\n  ${what[code]}`}\n`
}
