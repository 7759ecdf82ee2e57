// What hooks have answered about a request that is begun anew: who was asked the same is not asked again.

import type { AnsweredQuestion } from '../../api/call.js'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import type { AdmissionRequest } from '../admission.js'
import type { Hook } from './hook.js'
import type { HookStep } from './hook-tallies.js'

/** What is kept of one request. What comes beyond it is asked again. */
const mostKept = 256
const mostKeptBytes = 8 << 20

/** One question to a hook, which may have been answered before. */
export class HookQuestion {
  readonly #answered: AnsweredQuestion[] | undefined
  readonly #who: string
  #asked = ''
  #found: AnsweredQuestion | undefined

  constructor({ id }: Hook, step: HookStep, { call }: AdmissionRequest) {
    this.#answered = call.caller.answered
    this.#who = `${step} ${id}`
  }

  /** Whether metrics know of it; once they were told they do. */
  isCounted(): boolean {
    const { isCounted = false } = this.#found ?? {}
    if (this.#found !== undefined) this.#found.isCounted = true
    return isCounted
  }

  /** The answer to the same review, and the uid under which it was asked for. Each is given once. */
  find(text: string, uid: string): { readonly uid: string; readonly answer: EndpointAnswer } | undefined {
    if (this.#answered === undefined) return undefined
    // Everything but the uid, which is in front of it.
    this.#asked = text.slice(text.indexOf(uid) + uid.length)
    const at = this.#answered.findIndex(({ who, asked }) => who === this.#who && asked === this.#asked)
    if (at < 0) return undefined
    const [found] = this.#answered.splice(at, 1) as [AnsweredQuestion]
    this.#found = found
    const { buffer, byteOffset, byteLength } = found.body
    return { uid: found.uid, answer: { status: found.status, body: Buffer.from(buffer, byteOffset, byteLength), retryAfter: undefined } }
  }

  /** It was asked, and answered. */
  keep(uid: string, { status, body }: EndpointAnswer): void {
    if (this.#answered === undefined || this.#answered.length >= mostKept) return
    const kept: AnsweredQuestion = { who: this.#who, asked: this.#asked, uid, status, body, isCounted: false }
    if (this.#answered.reduce((sum, each) => sum + bytesOf(each), bytesOf(kept)) > mostKeptBytes) return
    this.#found = kept
    this.#answered.push(kept)
  }
}

const bytesOf = ({ asked, body }: AnsweredQuestion): number => 2 * asked.length + body.length
