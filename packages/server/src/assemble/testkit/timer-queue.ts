// Timers in the order of their due times: a binary heap, from which any timer can be removed.

import type { TimedWork } from '@cluster-apiserver/api/base/clock.js'

export interface Timer {
  dueMs: number
  /** Timers with the same due time fire in the order in which they were set. */
  readonly order: number
  readonly run: TimedWork
  readonly periodMs: number
  /** Position in the heap; -1 if the timer is not in it. */
  index: number
}

const isBefore = (a: Timer, b: Timer): boolean => (a.dueMs === b.dueMs ? a.order < b.order : a.dueMs < b.dueMs)

export class TimerQueue {
  readonly #heap: Timer[] = []

  get first(): Timer | undefined {
    return this.#heap[0]
  }

  add(timer: Timer): void {
    this.#place(timer, this.#heap.length)
    this.#rise(timer)
  }

  /** Does nothing if the timer is not in the queue. */
  remove(timer: Timer): void {
    const { index } = timer
    if (index < 0) return
    timer.index = -1
    const last = this.#heap.pop() as Timer
    if (last === timer) return
    this.#place(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  #place(timer: Timer, index: number): void {
    this.#heap[index] = timer
    timer.index = index
  }

  #rise(timer: Timer): void {
    while (timer.index > 0) {
      const { index } = timer
      const parentIndex = (index - 1) >> 1
      const parent = this.#heap[parentIndex] as Timer
      if (!isBefore(timer, parent)) return
      this.#place(parent, index)
      this.#place(timer, parentIndex)
    }
  }

  #sink(timer: Timer): void {
    for (;;) {
      const { index } = timer
      const [left, right] = [this.#heap[2 * index + 1], this.#heap[2 * index + 2]]
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || !isBefore(child, timer)) return
      const childIndex = child.index
      this.#place(child, index)
      this.#place(timer, childIndex)
    }
  }
}
