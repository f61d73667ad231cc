/**
 * English words that say little or nothing of what is wanted.
 *
 * @internal
 */
const among = (words: string): (word: string) => boolean => {
  const set = new Set(words.split(/\s+/))
  return (word) => set.has(word)
}

/**
 * Words that are in every question.
 *
 * @internal
 */
export const isFiller: (word: string) => boolean = among(
  `a about after all am an and any are as at be been but by can could did do does doing done each every for from had has
   have how i if in into is it its just let like may me might mine more most must my need of on one onto or our out
   please s shall she should so some somebody someone something such t than that the their them then there these they
   this those to too up us use used uses using very via want was we were what when where whether which while who whom
   whose why will with within without would you your yours`
)

/**
 * Words of many uses.
 *
 * @internal
 */
export const isFaint: (word: string) => boolean = among(
  `again already also another back call come current data different else even find get give given go good help
   information keep kind know long look make many much new not now number other own put run same see set several show
   specific still take tell thing tool two value work`
)
