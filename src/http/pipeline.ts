// The filters in the order in which a request passes them. A filter that has answered says so, and the walk ends.

import type { Exchange } from './exchange.js'

/** True when the request has been answered. */
export type Answered = boolean
export type Filter = (exchange: Exchange) => Answered | Promise<Answered>

/** Walks the list; synchronous as long as every filter is. */
export function walk(filters: readonly Filter[], exchange: Exchange, from = 0): Answered | Promise<Answered> {
  for (let i = from; i < filters.length; i++) {
    const answered = (filters[i] as Filter)(exchange)
    if (typeof answered !== 'boolean') {
      return i === filters.length - 1 ? answered : answered.then((done) => done || walk(filters, exchange, i + 1))
    }
    if (answered) return true
  }
  return false
}
