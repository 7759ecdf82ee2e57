// What is to be read of authentication on `/metrics`.

import type { AuthenticationTallies } from '../auth/tallies.js'
import type { Histogram } from '../base/histogram.js'
import type { Family, Row } from '../http/metrics/exposition.js'

export function authenticationFamilies({ attempts, users, tokens, certificates, accounts }: AuthenticationTallies): readonly Family[] {
  const sum = ({ counts }: Histogram): number => counts.reduce((all, count) => all + count, 0)
  const results = Object.entries(attempts).filter(([, durations]) => durations.changes > 0)
  return [
    family('counter', 'authentication_attempts', 'Requests that were authenticated, or not.', 'result', rowsOf(results, sum)),
    family('histogram', 'authentication_duration_seconds', 'How long that took.', 'result', rowsOf(results, same)),
    family('counter', 'authenticated_user_requests', 'Requests of users who are known.', 'username', rowsOf([...users], same)),
    family(
      'gauge',
      'authentication_token_cache_active_fetch_count',
      'Tokens that are being checked now, and requests that wait for that.',
      'status',
      [row(tokens.blocked, 'blocked'), row(tokens.inFlight, 'in_flight')],
    ),
    family('counter', 'authentication_token_cache_fetch_total', 'Tokens that were checked.', 'status', [
      row(tokens.error, 'error'),
      row(tokens.ok, 'ok'),
    ]),
    family('histogram', 'authentication_token_cache_request_duration_seconds', 'How long it took to know a token.', 'status', [
      row(tokens.hit, 'hit'),
      row(tokens.miss, 'miss'),
    ]),
    family('counter', 'authentication_token_cache_request_total', 'Tokens that were known already, or not.', 'status', [
      row(sum(tokens.hit), 'hit'),
      row(sum(tokens.miss), 'miss'),
    ]),
    plain(
      'histogram',
      'apiserver_client_certificate_expiration_seconds',
      'For how much longer client certificates are in force.',
      certificates,
    ),
    plain(
      'counter',
      'serviceaccount_legacy_tokens_total',
      'Requests with tokens of service accounts that name no audience.',
      accounts.legacy,
    ),
    plain('counter', 'serviceaccount_stale_tokens_total', 'Requests with tokens that should have been renewed.', accounts.stale),
    plain('counter', 'serviceaccount_valid_tokens_total', 'Requests with such tokens that are in time.', accounts.valid),
  ]
}

const same = <T>(value: T): T => value
const row = (value: Row['value'], ...labels: readonly string[]): Row => ({ labels, value })
const rowsOf = <T>(entries: readonly (readonly [string, T])[], read: (value: T) => Row['value']): readonly Row[] =>
  entries.map(([label, value]) => row(read(value), label))
const family = (type: Family['type'], name: string, help: string, label: string, rows: readonly Row[]): Family => ({
  name,
  type,
  help,
  labels: [label],
  rows,
})
const plain = (type: Family['type'], name: string, help: string, value: Row['value']): Family => ({
  name,
  type,
  help,
  labels: [],
  rows: [row(value)],
})
