#!/bin/ksh
# Patterns from variables, quoted or not, with letters that are special.
name="a*b.c[1]/x"
star='*'
set='[a-c]'
echo "! ${name#a$star} | ${name#a"$star"} | ${name%"[1]"*} | ${name//./,} | ${name//[*]/+} | ${name/\//-}" > NAMELIST_patterns
[[ $name == a"$star"* ]] && a=quoted
[[ abc == a$star ]] && b=pattern
[[ abc == "a$star" ]] || c=literal
[[ b == $set ]] && d=class
[[ "[a-c]" == "$set" ]] && e=text
case abc in $set*) f=class ;; esac
case "$star" in "*") g=star ;; esac
case x in "*") h=wrong ;; ?) h=one ;; esac
case "" in *) i=empty ;; esac
case "a b" in a\ b) j=blank ;; esac
case "]" in [\]]) k=bracket ;; esac
case - in [a-]) l=dash ;; esac
case B in [[:upper:]]) m=upper ;; esac
case b in [!a-c]) n=out ;; [^x]) n=in ;; esac
path=/a/b//c/
echo "! $a $b $c $d $e $f $g $h $i $j $k $l $m $n ${path%/} ${path%%/*}| ${path##*/}| ${path//\//.} ${path#*//}" >> NAMELIST_patterns
slash=/
backslash='\'
echo "! ${path//$slash/:} ${path//$slash$slash/$slash} x${backslash}y" >> NAMELIST_patterns
