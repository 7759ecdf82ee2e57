// Those who follow the changes of an engine, called in order and kept from disturbing one another.

import type { Logger } from '../base/logger.js'
import type { Change, ChangeListener, Unfollow } from './storage.js'

export interface Followers {
  follow(listener: ChangeListener): Unfollow
  publish(changes: readonly Change[], hasGap?: boolean): void
}

export function createFollowers(logger: Logger): Followers {
  let followers: readonly { readonly listener: ChangeListener; isActive: boolean }[] = []
  return {
    follow(listener) {
      const follower = { listener, isActive: true }
      followers = [...followers, follower]
      return () => {
        follower.isActive = false
        followers = followers.filter((other) => other !== follower)
      }
    },
    publish(changes, hasGap = false) {
      if (changes.length === 0 && !hasGap) return
      for (const follower of followers) {
        if (!follower.isActive) continue
        try {
          follower.listener(changes, hasGap)
        } catch (error) {
          logger.error({ error }, 'internal error in a listener of storage changes')
        }
      }
    },
  }
}
