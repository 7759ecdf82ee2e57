// Sends a SelfSubjectReview with any certificate, headers and token, over HTTP/1.1 and HTTP/2.

import { connect, constants } from 'node:http2'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { RunningServer } from 'cluster-apiserver'

/** Allows everybody, so that the response shows authentication only; unauthenticated requests get 401. */
export const openFlags = [
  '--authorization-mode=AlwaysAllow',
  '--feature-gates=APISelfSubjectReview=true',
  '--runtime-config=authentication.cluster.io/v1alpha1=true',
]

const path = '/apis/authentication.cluster.io/v1alpha1/selfsubjectreviews'

export interface ReviewCredentials {
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  readonly headers?: { readonly [name: string]: string | string[] }
  readonly protocol?: 'h1' | 'h2'
  /** Opens the connection; replaces `cert` and `key`. */
  readonly connect?: () => TLSSocket
}

export interface ReviewedUser {
  readonly status: number
  readonly name?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

export async function identify(
  { url, caPem }: Pick<RunningServer, 'url' | 'caPem'>,
  credentials: ReviewCredentials,
): Promise<ReviewedUser> {
  const { cert, key, token, headers = {}, protocol = 'h1', connect: createConnection } = credentials
  const pair = { ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) }
  const tls = createConnection === undefined ? { agent: false, ca: caPem, ...pair } : { createConnection }
  const sent = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), 'content-type': 'application/json', ...headers }
  const { status, text } = await (protocol === 'h1' ? overHttp1(url, tls, sent) : overHttp2(url, tls, sent))
  if (status !== 201) return { status }
  const { userInfo } = (
    JSON.parse(text) as { readonly status: { readonly userInfo: Omit<ReviewedUser, 'name' | 'status'> & { username: string } } }
  ).status
  const { username, uid, groups, extra } = userInfo
  return {
    status,
    name: username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  }
}

interface Reply {
  readonly status: number
  readonly text: string
}

type Headers = { readonly [name: string]: string | string[] }

function overHttp1(url: string, tls: object, headers: Headers): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, url), { method: 'POST', headers, ...tls }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    outgoing.on('error', reject).end('{}')
  })
}

function overHttp2(url: string, tls: object, headers: Headers): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const session = connect(url, tls)
    session.on('error', reject)
    const stream = session.request({ [constants.HTTP2_HEADER_METHOD]: 'POST', [constants.HTTP2_HEADER_PATH]: path, ...headers })
    let status = 0
    let text = ''
    stream.on('response', (head) => {
      status = Number(head[constants.HTTP2_HEADER_STATUS])
    })
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      session.close()
      resolve({ status, text })
    })
    stream.end('{}')
  })
}
