// Tokens of service accounts that lie in secrets: they name no time at which they end, and are good as long as the secret holds them.

import { type AccountTokenOptions, accountUser, refuse, type SignedToken, watched } from './account-tokens.js'
import type { Refused } from './authenticate.js'
import type { TokenFinding } from './bearer-tokens.js'
import { type LegacyClaims, readLegacyClaims } from './service-account-claims.js'
import { accountName } from './service-account-name.js'

type Needs = readonly [value: string, problem: string][]

export function checkSecretToken(options: AccountTokenOptions, { token, claims }: SignedToken): TokenFinding | Refused {
  const legacy = readLegacyClaims(options.identity, claims)
  const { namespace, secret, account } = legacy
  const subject = typeof claims['sub'] === 'string' ? claims['sub'] : ''
  const needs: Needs = [
    [subject, 'sub claim is missing'],
    [namespace, 'namespace claim is missing'],
    [secret, 'secretName claim is missing'],
    [account.name, 'serviceAccountName claim is missing'],
    [account.uid, 'serviceAccountUID claim is missing'],
  ]
  const missing = needs.find(([value]) => value === '')
  if (missing !== undefined) return refuse(missing[1])
  if (subject !== accountName(namespace, account.name)) return refuse('sub claim is invalid')
  const user = accountUser(options.identity, { namespace, serviceaccount: account })
  if (!options.lookup) return { user }
  const lives = heldBySecret(options, legacy, token.text)
  const problem = lives(token.now)
  return problem === undefined ? { user, holds: (now) => lives(now) === undefined } : refuse(problem)
}

/** What is wrong with the token now. */
function heldBySecret(
  { objects }: AccountTokenOptions,
  { namespace, secret, account }: LegacyClaims,
  token: string,
): (now: number) => string | undefined {
  const copy = Buffer.from(token).toString('base64')
  const secretProblem = watched(
    objects,
    { resource: 'secrets', namespace, name: secret },
    {
      gone: 'Token has been invalidated',
      check: (object) => {
        if (object.metadata?.deletionTimestamp !== undefined) return 'Token has been invalidated'
        const { data } = object as { readonly data?: { readonly token?: string } }
        return data?.token === copy ? undefined : "Token does not match server's copy"
      },
    },
  )
  const accountProblem = watched(
    objects,
    { resource: 'serviceaccounts', namespace, name: account.name },
    {
      gone: `serviceaccounts ${JSON.stringify(account.name)} not found`,
      check: ({ metadata }) => {
        if (metadata?.deletionTimestamp !== undefined) return `ServiceAccount ${namespace}/${account.name} has been deleted`
        return metadata?.uid === account.uid ? undefined : `ServiceAccount UID (${metadata?.uid}) does not match claim (${account.uid})`
      },
    },
  )
  return (now) => secretProblem(now) ?? accountProblem(now)
}
