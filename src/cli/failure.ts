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
export const explain = (thrown: unknown): string => printable(sentenceFor(thrown))

function sentenceFor(thrown: unknown): string {
  const { name, message } = thrown instanceof Error ? thrown : { name: '', message: String(thrown) }
  if (name === 'StatusError') return explainStatus(thrown as StatusError)
  if (name === 'ConnectionError') return explainConnection(thrown as Error & { readonly code: string })
  if (name === 'ConfigError')
    return `error: ${message}\n  see: clusterctl config view; --kubeconfig names another file, --server another server\n`
  if (name === 'CredentialError') return `error: ${message}\n`
  if (name === 'TimeoutError') return `error: ${message}; --request-timeout says how long to wait\n`
  if (thrown instanceof UsageError || thrown instanceof Failure) return `error: ${message}\n`
  return `error: ${message}\n`
}

function explainStatus({ code, reason, message, causes, details }: StatusError): string {
  if (code === 422 || reason === 'Invalid') {
    if (details.kind === undefined || details.kind === '') return `The request is invalid: ${message}\n`
    if (causes.length < 2) return `The ${message}\n`
    return `The ${details.kind} "${details.name ?? ''}" is invalid: ${causes.map(({ field, message: what }) => `\n* ${field}: ${what}`).join('')}\n`
  }
  if (code === 401) return `error: You must be logged in to the server (${reason || 'Unauthorized'}): ${message}\n`
  return `Error from server (${reason || code}): ${message}\n`
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
