// Error messages of commands: kubectl's texts for errors of the server, and hints what to do.

import { escapeTerminalControls } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import type { StatusError } from '@cluster-apiserver/client/errors.js'
import { UsageError } from './flags.js'
import type { Io } from './io.js'

export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Escapes control characters: messages contain texts of the server. */
export const explain = (thrown: unknown, prefix = ''): string => escapeTerminalControls(messageFor(thrown, prefix))

function messageFor(thrown: unknown, prefix: string): string {
  const { name, message } = thrown instanceof Error ? thrown : { name: '', message: String(thrown) }
  if (name === 'StatusError') return explainStatus(thrown as StatusError, prefix)
  if (name === 'ConnectionError') return explainConnection(thrown as Error & { readonly code: string })
  if (name === 'ConfigError')
    return `error: ${message}\n  see: clusterctl config view; use --kubeconfig or --server to select another one\n`
  if (name === 'CredentialError') return `error: ${message}\n`
  if (name === 'TimeoutError') return `error: ${message}; use --request-timeout to wait longer\n`
  if (thrown instanceof UsageError || thrown instanceof CommandError) return `error: ${message}\n`
  return `error: ${prefix}${withoutErrno(message)}\n`
}

const withoutErrno = (message: string): string => message.replace(/^E[A-Z0-9]+: ([^,]+), (\w+) '(.*)'$/, '$2 $3: $1')

function explainStatus({ code, reason, message, causes, details }: StatusError, prefix: string): string {
  if (code === 422 || reason === 'Invalid') {
    if (details.kind === undefined || details.kind === '') return `The request is invalid: ${message}\n`
    const problems = [...new Set(causes.map(({ field, message: problem }) => `${field}: ${problem}`))]
    if (problems.length < 2)
      return `The ${causes.length < 2 ? message : `${details.kind} "${details.name ?? ''}" is invalid: ${problems[0]}`}\n`
    return `The ${details.kind} "${details.name ?? ''}" is invalid: ${problems.map((problem) => `\n* ${problem}`).join('')}\n`
  }
  const hasMessage = message !== '' && message !== reason
  if (code === 401) return `error: You must be logged in to the server (${reason || 'Unauthorized'})${hasMessage ? `: ${message}` : ''}\n`
  return `Error from server (${reason || code}): ${prefix}${message}\n`
}

function explainConnection({ message, code }: Error & { readonly code: string }): string {
  const hints: { readonly [code: string]: string } = {
    ECONNREFUSED: 'no process listens on this address: start the server, or check the address',
    ENOTFOUND: 'unknown host: check the address of the server',
    ETIMEDOUT: 'no response: check the address and the network',
    SELF_SIGNED_CERT_IN_CHAIN: 'its certificate authority is not trusted: use --certificate-authority',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'its self-signed certificate is not trusted: use --certificate-authority',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate authority is not trusted: use --certificate-authority',
    ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name: use --tls-server-name',
  }
  return `error: cannot reach the server: ${message}${hints[code] === undefined ? '' : `\n  ${hints[code]}`}\n`
}

/** Runs the action for each item and reports errors. Returns the exit code. `gerund`: the action in error messages. */
export async function forEach<T extends { readonly origin?: string }>(
  items: readonly T[],
  io: Io,
  action: (item: T) => Promise<void>,
  gerund?: string,
): Promise<number> {
  let failures = 0
  for (const item of items) {
    try {
      await action(item)
    } catch (thrown) {
      failures++
      io.err(explain(thrown, gerund === undefined || item.origin === undefined ? '' : `error when ${gerund} "${item.origin}": `))
    }
  }
  return failures === 0 ? 0 : 1
}
