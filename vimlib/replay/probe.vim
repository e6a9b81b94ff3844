" Evidence from inside the Vim that plays the keys, and the word that it is done.
"
" Sourced by --cmd before anything else, so it must bear 'compatible' (no continuation lines).
" It says what it knows on standard output: \x1e, JSON, \x1f. It never quits, saves or types:
" the harness ends Vim when it reads 'end'. All of it can be tampered with by the keys, which
" is why no verdict rests on it.
"
" When are the keys used up? A timer fires only while Vim waits. With nothing left to read
" (state() lacks 'm') Vim either waits for a key or sleeps in a command that has more to do.
" Waiting in a main loop shows as the lack of 'S' in state(), waiting at a prompt as mode 'r';
" any other wait (for the second key of f, say) is told from a sleep by giving Vim the key
" <Ignore>, which every wait takes and drops, and seeing whether it is gone at the next tick.
" A timer that fires with something left to read means a wait for the rest of a mapping or of an
" <Esc> sequence (or a sleep): <Ignore> at the end of what is left decides it as 'timeout' would,
" without the second that it takes.
" Where the keys left timers or idle autocommands of their own, waiting is not the end.

let s:state = 'running'
let s:nudged = 0
let s:pending = 0

function s:Report()
  let l:r = {'mode': mode(1), 'line': line('.'), 'column': col('.'), 'errmsg': v:errmsg}
  " An error about a file has the file's name before its number.
  let l:errors = filter(split(execute('messages'), "\n"), {i, m -> m =~# '^\("[^"]*" \)\=E\d\+:'})
  if !empty(l:errors)
    let l:r.first = l:errors[0]
    let l:r.last = l:errors[-1]
  endif
  if bufloaded(1) && getbufvar(1, '&modified')
    let l:text = join(getbufline(1, 1, '$'), "\n")
    if strlen(l:text) < 200000
      let l:r.buffer = l:text . (getbufvar(1, '&endofline') ? "\n" : '')
    endif
  endif
  call echoraw("\x1e" . json_encode(l:r) . "\x1f")
endfunction

function s:Tick(timer)
  if state('m') !=# ''
    if &timeout && !s:nudged
      call feedkeys("\<Ignore>", 'n')
      let s:nudged = 1
    endif
    return
  endif
  if s:state ==# 'asked'
    " The first report may have come while a command looked for typeahead in the midst of its work;
    " this one comes after it, but with a pending operator dropped.
    if !s:pending
      silent! call s:Report()
    endif
    call echoraw("\x1eend\x1f")
    let s:state = 'ended'
    return
  endif
  if s:state ==# 'ended' || len(timer_info()) > 1
    return
  endif
  if exists('#CursorHold') || exists('#CursorHoldI') || exists('#SafeState') || exists('#SafeStateAgain')
    return
  endif
  silent! call s:Report()
  if state('S') ==# '' || mode(1)[0] ==# 'r'
    call echoraw("\x1eend\x1f")
    let s:state = 'ended'
  else
    let s:pending = state('o') !=# ''
    call feedkeys("\<Ignore>", 'n')
    let s:state = 'asked'
  endif
endfunction

autocmd VimLeavePre * silent! call s:Report()
call timer_start(1, function('s:Tick'), {'repeat': -1})
